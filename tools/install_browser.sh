#!/bin/sh
# Installs Chromium for the tests of the explorer's page, with apt-get where it is available and allowed. It never
# fails: without a browser, these tests are skipped.
for program in chromium chromium-browser google-chrome; do
  if command -v $program >/dev/null 2>&1; then
    echo "Browser: $(command -v $program)"
    exit 0
  fi
done
if ! command -v apt-get >/dev/null 2>&1; then
  echo "No browser, and no apt-get: install Chromium or Chrome to run the tests of the explorer's page."
  exit 0
fi
sudo=
if [ "$(id -u)" -ne 0 ]; then
  if ! sudo -n true >/dev/null 2>&1; then
    echo "No browser: run 'sudo apt-get install chromium' to run the tests of the explorer's page."
    exit 0
  fi
  sudo="sudo -n"
fi
log=$(mktemp "${TMPDIR:-/tmp}/boostkmeans.XXXXXX")
# fonts-inter is for the screenshots; the page also works with other fonts.
if { $sudo apt-get update && $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends chromium fonts-inter; } >"$log" 2>&1; then
  echo "Installed $(command -v chromium)"
else
  echo "apt-get could not install Chromium; the tests of the explorer's page are skipped:"
  tail -n 3 "$log"
fi
rm -f "$log"
exit 0
