# The browser that opens the page for people in its test, tests/e2e/page.test.mjs: one that is here, or Debian's Chromium.
# Source it after common.sh, root.sh and apt.sh.
# shellcheck shell=bash

# The program that was found, for the test to read.
BROWSER=$TOOLS/browser

# ensure_browser -> the path of a Chromium in that file.
ensure_browser() {
  if [[ -x $(cat "$BROWSER" 2>/dev/null) ]] || find_browser; then return; fi
  command -v apt-get >/dev/null ||
    die "no Chromium is here, and no apt-get to install it: install Chromium or Chrome, which the test of the page opens"
  local start=$SECONDS
  say "chromium: installing Debian's (about 120 MB)"
  # Without a font of its own it would measure empty boxes.
  apt_install chromium fonts-dejavu-core
  find_browser || die "chromium is installed, and still not on PATH"
  say "chromium: installed in $(took "$start")"
}

# find_browser -> remembers the first of the names by which distributions call it.
find_browser() {
  local name path
  for name in chromium chromium-browser google-chrome google-chrome-stable \
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome' /Applications/Chromium.app/Contents/MacOS/Chromium; do
    if path=$(command -v "$name"); then
      printf '%s\n' "$path" >"$BROWSER"
      return
    fi
  done
  return 1
}
