"""Make the picture of the HTML report: the sample of a hang, as Chromium shows it.

    python screenshots/report.py

It needs Chromium (Debian: `apt-get install chromium`) and the package itself.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from delegtop.cli import main as delegtop

HERE = Path(__file__).parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
MOMENT = "2026-03-03T10:59:40Z"
SIZE = "1180,1750"


def main() -> int:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.stderr.write("the picture of the report needs Chromium (Debian: chromium)\n")
        return 1
    os.chdir(HERE.parent)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        code = delegtop(["report", "sample_logs/02_hang", "--at", MOMENT, "-o", str(page)])
        if code:
            return code
        command = [
            *(browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
            f"--user-data-dir={folder}/profile",
            f"--window-size={SIZE}",
            f"--screenshot={HERE / 'report.png'}",
            page.as_uri(),
        ]
        return subprocess.run(command, stderr=subprocess.DEVNULL, check=False, timeout=120).returncode  # noqa: S603 - the browser that was found, and a page of ours


if __name__ == "__main__":
    sys.exit(main())
