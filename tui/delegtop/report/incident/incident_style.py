"""The style sheet of HTML: light and dark by the reader's wish, and fit for paper. It asks for no file.

The report carries it within itself, the live page asks for it. Nothing is set at an element: the policy of the page
forbids that.
"""

from delegtop.report.incident.incident_pieces import DEEPEST

_INDENTS = "".join(f".in{level}{{padding-left:{1.2 * level:.1f}em}}" for level in range(1, DEEPEST + 1))

STYLE = """
:root{color-scheme:light dark;--paper:#fff;--ink:#1d2430;--soft:#5a6472;--rule:#d9dee5;--panel:#f5f7fa;
--accent:#0b5cad;
--bad:#b3261e;--bad-panel:#fdecea;--warn:#8a5300;--good:#1a7f4b;--calm:#2f6fb5;--dim:#7b8593;--odd:#7a3fa8;
--code:#eef1f5}
@media (prefers-color-scheme:dark){:root{--paper:#12161c;--ink:#e4e9f0;--soft:#a2adbb;--rule:#303844;--panel:#1a2029;
--accent:#7db8f5;--bad:#ff8a80;--bad-panel:#3a1d1c;--warn:#f0b45e;--good:#6fd39c;--calm:#7fb4ee;--dim:#8f9aa9;
--odd:#cf9cf2;--code:#202732}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,"Segoe UI",Roboto,"Noto Sans",sans-serif}
main{max-width:72rem;margin:0 auto;padding:2rem 1.25rem 4rem}
h1{font-size:1.15rem;letter-spacing:.04em;text-transform:uppercase;color:var(--soft);margin:0 0 .5rem}
h2{font-size:1.35rem;margin:2.75rem 0 .75rem;padding-bottom:.3rem;border-bottom:1px solid var(--rule)}
h3{font-size:1.1rem;margin:0 0 .4rem}h4{font-size:.95rem;margin:1.25rem 0 .4rem;color:var(--soft)}
.lead{font-size:1.3rem;line-height:1.4;margin:0 0 1rem}.meta,.note{color:var(--soft);font-size:.9rem}
.chips{display:flex;flex-wrap:wrap;gap:.5rem;list-style:none;padding:0;margin:0 0 1rem}
.chips li{border:1px solid var(--rule);border-left:4px solid var(--c);border-radius:6px;padding:.25rem .7rem;
background:var(--panel)}
.chips b{font-variant-numeric:tabular-nums}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.9rem}
th,td{text-align:left;vertical-align:top;padding:.4rem .6rem;border-bottom:1px solid var(--rule);
overflow-wrap:anywhere}
th{color:var(--soft);font-weight:600;white-space:nowrap}td.tight{white-space:nowrap;font-variant-numeric:tabular-nums}
td:first-child{min-width:9rem}td.prose{min-width:15rem}td.whole{overflow-wrap:normal}
tr.blocker td{background:var(--bad-panel)}
INDENTS
.word{color:var(--c);font-weight:600}
.badge{display:inline-block;background:var(--bad);color:var(--paper);border-radius:4px;padding:0 .45rem;
font-size:.78rem;font-weight:600;white-space:nowrap}
article{border:1px solid var(--rule);border-left:5px solid var(--c,var(--dim));border-radius:8px;padding:1rem 1.25rem;
margin:0 0 1.25rem;background:var(--panel)}
article>p{margin:.2rem 0 .8rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem;margin:0;font-size:.92rem}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
blockquote{margin:.4rem 0;padding:.5rem .9rem;border-left:3px solid var(--odd);background:var(--paper);
white-space:pre-wrap;overflow-wrap:anywhere}
blockquote cite{display:block;font-style:normal;color:var(--soft);font-size:.82rem}
pre{margin:.3rem 0 .7rem;padding:.6rem .8rem;background:var(--code);border-radius:6px;white-space:pre-wrap;
overflow-wrap:anywhere}
pre,code,.id{font-family:ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;font-size:.82rem}
pre.command{border:1px dashed var(--accent);user-select:all}
ul.plain{margin:0;padding-left:1.1rem}ul.plain li{margin:.35rem 0}
figure{margin:0}figure .wide{margin-bottom:1rem}figcaption{color:var(--soft);font-size:.85rem;margin-top:.4rem}
.gantt{width:100%;min-width:46rem;height:auto;display:block;
font:12px ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace}
.gantt text{fill:var(--ink);dominant-baseline:central}.gantt .time,.gantt .took,.gantt .unknown{fill:var(--soft)}
.gantt .state{fill:var(--c);font-weight:600}.gantt .tick{stroke:var(--rule)}
.gantt .bar{fill:var(--c)}.gantt .quiet{fill:none;stroke:var(--c);stroke-dasharray:3 2}
.gantt .waits{fill:var(--c);opacity:.3}
.gantt .deadline{fill:none;stroke:var(--ink);stroke-width:1.6}.gantt .now{stroke:var(--accent);stroke-dasharray:5 3}
.gantt rect.blocker{fill:var(--bad-panel)}.gantt .trouble .name{font-weight:600}
.s-running,.s-waiting{--c:var(--calm)}.s-silent,.s-partial,.s-blocked{--c:var(--warn)}
.s-overdue,.s-failed,.s-timeout{--c:var(--bad)}.s-lost,.s-interrupted{--c:var(--odd)}
.s-completed{--c:var(--good)}.s-unknown,.s-idle{--c:var(--dim)}
section{content-visibility:auto;contain-intrinsic-size:auto 60rem}
@media print{section{content-visibility:visible}
:root{color-scheme:light;--paper:#fff;--ink:#000;--soft:#444;--rule:#bbb;--panel:#fff;--accent:#0b5cad;
--bad:#b3261e;--bad-panel:#fdecea;--warn:#8a5300;--good:#1a7f4b;--calm:#2f6fb5;--dim:#7b8593;--odd:#7a3fa8;
--code:#f3f4f6}
@page{margin:14mm}html{font-size:8.5pt}body{font-size:1rem;print-color-adjust:exact;-webkit-print-color-adjust:exact}
main{max-width:none;padding:0}.wide{overflow:visible}.gantt{min-width:0}
h2,h3,h4,.place{break-after:avoid}tr,pre,blockquote,figure .wide{break-inside:avoid}thead{display:table-header-group}
article{break-inside:auto}}
""".strip().replace("INDENTS", _INDENTS)
