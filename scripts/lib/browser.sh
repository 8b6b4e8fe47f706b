# The browser in which the tests in tests/e2e/ open the landing page and apps: an installed one, or Debian's headless shell of Chromium. The
# shell has no user interface, and needs a third of the processor time of Chromium.
# Source this file after common.sh, root.sh and apt.sh.
# shellcheck shell=bash

# The name of the file that contains the path of the browser. The tests read this file.
BROWSER=$TOOLS/browser

# ensure_browser -> writes the path of a browser to the file $BROWSER, and installs Chromium if there is no browser
ensure_browser() {
  if [[ -x $(cat "$BROWSER" 2>/dev/null) ]] || find_browser; then return; fi
  command -v apt-get >/dev/null ||
    die "the tests of the landing page and of apps need a browser: install Chromium or Chrome"
  local start=$SECONDS
  say "chromium: installing Debian's (about 120 MB)"
  local package=chromium
  if [[ $(apt-cache policy chromium-headless-shell 2>/dev/null) == *'Candidate: '[0-9]* ]]; then package+=-headless-shell; fi
  # Without a font, the browser would measure empty boxes instead of letters.
  apt_install "$package" fonts-dejavu-core
  find_browser || die "chromium is installed, but it is not on PATH"
  say "chromium: installed in $(took "$start")"
}

# find_browser -> writes the path of the first browser that it finds to the file $BROWSER. The name of the program depends on the
# distribution.
find_browser() {
  local name path
  for name in chromium-headless-shell chromium chromium-browser google-chrome google-chrome-stable \
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome' /Applications/Chromium.app/Contents/MacOS/Chromium; do
    if path=$(command -v "$name"); then
      printf '%s\n' "$path" >"$BROWSER"
      return
    fi
  done
  return 1
}
