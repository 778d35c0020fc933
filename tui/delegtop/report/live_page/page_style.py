"""The style sheet of the live page: that of the report, and what a page needs that is looked at on a phone."""

from delegtop.report.incident.incident_style import STYLE

_OWN = """
html{overflow-wrap:anywhere}
header,main,footer{max-width:72rem;margin:0 auto;padding:0 1rem}
header{display:flex;flex-wrap:wrap;align-items:baseline;gap:0 1rem;padding-top:.75rem}
header h1,header p{margin:0}
main{padding-top:.75rem;padding-bottom:2rem}
h2{margin:1.25rem 0 .5rem}
.skip{position:absolute;left:-99rem}.skip:focus{left:.5rem;top:.5rem;background:var(--paper);padding:.5rem}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
#old{flex-basis:100%;background:var(--bad);color:var(--paper);font-weight:600;border-radius:6px;padding:.4rem .8rem;
margin:.5rem 0}
#old[hidden]{display:none}
.lead{margin:0 0 .75rem;font-weight:600}.lead.bad{color:var(--bad)}.lead.good{color:var(--good)}
#missing{list-style:none;margin:0;padding:0}
#missing li{border:1px solid var(--rule);border-left:6px solid var(--bad);border-radius:6px;background:var(--bad-panel);
padding:.4rem .8rem;margin:0 0 .6rem}
#missing li.late{border-left-color:var(--warn);background:var(--panel)}
#missing li.calm{border-left-color:var(--dim);background:var(--panel)}
#missing .lost b{color:var(--bad)}#missing .late b{color:var(--warn)}
ul.hosts{display:flex;flex-wrap:wrap;gap:0 1.2rem;list-style:none;margin:.4rem 0;padding:0;color:var(--soft);
font-size:.9rem}
ul.hosts .lost{color:var(--bad)}ul.hosts .late{color:var(--warn)}
.card.as-of{border-left-color:var(--dim)}
.row.as-of>details>summary,.card.as-of h3,.card.as-of .verdict{color:var(--soft)}
ul.stuck,ul.tree,ul.earlier{list-style:none;margin:0;padding:0}
.card{border:1px solid var(--rule);border-left:6px solid var(--bad);border-radius:8px;background:var(--panel);
padding:.8rem 1rem;margin:0 0 .9rem}
.card.less{border-left-color:var(--warn)}
.card h3{font-size:1.15rem;margin:0}.card p{margin:.25rem 0}.card h4{margin:.7rem 0 .2rem}
.card .which{color:var(--soft);font-weight:600}
.card .verdict{color:var(--bad);font-size:1.05rem}.card.less .verdict{color:var(--warn)}
ol.plain{margin:0;padding-left:1.4rem}ol.plain li{margin:.15rem 0}
summary{cursor:pointer}summary:focus-visible,a:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.card summary{color:var(--accent)}
.row>details{border-bottom:1px solid var(--rule);border-left:4px solid var(--c)}
.row>details>summary{display:flex;flex-wrap:wrap;gap:0 .6rem;align-items:baseline;padding:.35rem .5rem;list-style:none}
.row>details>summary::-webkit-details-marker{display:none}
.row>details>summary::before{content:"▸";color:var(--soft)}.row>details[open]>summary::before{content:"▾"}
.row.now>details>summary{background:var(--bad-panel)}
.row .title,.row .where{color:var(--soft)}
.row .doing{flex:1 1 14rem;color:var(--soft);font-size:.9rem;min-width:0}
.row .age{margin-left:auto;color:var(--soft);font-size:.9rem;font-variant-numeric:tabular-nums}
.row.over b{font-weight:500}
.row.over details:not([open]) .doing{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;
overflow:hidden}
.more{padding:.5rem .75rem 1rem}.more article{margin:0;background:var(--paper)}
.more .gantt{margin-top:1rem}
time{font-variant-numeric:tabular-nums}
a{color:var(--accent)}
@media (max-width:40rem){body{font-size:15px}.lead{font-size:1.15rem}
article,.card{padding:.7rem .8rem}dl{grid-template-columns:1fr;gap:0}dd{margin:0 0 .4rem}
.row .doing{flex-basis:100%;order:1}INDENTS}
@media (prefers-reduced-motion:no-preference){.row.fresh>details>summary{animation:fresh 1.5s}
@keyframes fresh{from{background:var(--code)}}}
@media print{#pulse,.skip,.more{display:none}.card,.row{break-inside:avoid}}
""".strip()
_NARROW = "".join(f".in{level}{{padding-left:{min(level, 8) * 0.6:.1f}em}}" for level in range(1, 21))
"""On a phone rows move in less, and from some depth on no further."""

PAGE_STYLE = f"{STYLE}\n{_OWN.replace('INDENTS', _NARROW)}\n"
