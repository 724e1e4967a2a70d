"""Makes a script short and repeatable, in the same way for every tool that runs it.

Three things are changed, none of them moves a line: `sleep()` waits 50 ms at most, `Math.random()` is a seeded generator,
and every executor becomes one that makes a fixed number of iterations, since the number that fits into a time is chance.
"""

import re

VUS_MAX = 3
ITERATIONS_OF_A_VU = 2
SHARED_ITERATIONS_MAX = 6

# One seed for all VUs: which VU serves which scenario is chance, what a VU of a scenario draws is then not.
PREFIX = (
    "Math.random=(function(a){return function(){a=(a+0x6D2B79F5)|0;var t=Math.imul(a^(a>>>15),1|a);"
    "t=(t+Math.imul(t^(t>>>7),61|t))^t;return((t^(t>>>14))>>>0)/4294967296}})(7);"
)

SUFFIX = """
;(function (o) {
  if (!o || typeof o !== 'object' || Object.isFrozen(o)) return;
  var least = function (n, most) { return typeof n === 'number' && n > most ? most : n; };
  var peak = function (s) {
    var most = [s.vus, s.preAllocatedVUs, s.startVUs].concat((s.stages || []).map(function (x) { return x.target; }))
      .filter(function (n) { return typeof n === 'number'; });
    return Math.max(1, Math.min(VUS_MAX, Math.max.apply(null, most.concat([1]))));
  };
  var needs = { 'constant-vus': ['duration'], 'ramping-vus': ['stages'],
    'constant-arrival-rate': ['duration', 'rate', 'preAllocatedVUs'], 'ramping-arrival-rate': ['stages', 'preAllocatedVUs'] };
  var shorten = function (s) {
    if (s.executor === 'shared-iterations' || s.executor === 'per-vu-iterations') {
      s.vus = least(s.vus, VUS_MAX);
      s.iterations = least(s.iterations, s.executor === 'shared-iterations' ? SHARED_MAX : EACH);
      if (s.maxDuration !== undefined) s.maxDuration = '20s';
    } else if (needs[s.executor] && needs[s.executor].every(function (k) { return s[k] !== undefined; })) {
      s.vus = peak(s);
      s.executor = 'per-vu-iterations';
      s.iterations = EACH;
      s.maxDuration = '20s';
      ['duration', 'stages', 'rate', 'startRate', 'timeUnit', 'preAllocatedVUs', 'maxVUs', 'startVUs', 'gracefulRampDown']
        .forEach(function (k) { delete s[k]; });
    }
    if (s.startTime !== undefined) s.startTime = '1s';
  };
  var shortcuts = ['duration', 'stages', 'iterations'].filter(function (k) { return o[k] !== undefined && o[k] !== null; });
  if (o.scenarios) {
    if (!shortcuts.length) Object.keys(o.scenarios).forEach(function (k) { shorten(o.scenarios[k]); });
  } else if (shortcuts.indexOf('iterations') >= 0) {
    o.vus = least(o.vus, VUS_MAX);
    o.iterations = least(o.iterations, SHARED_MAX);
  } else if (shortcuts.length === 1 && (o.duration || Array.isArray(o.stages))) {
    o.scenarios = { default: { executor: 'per-vu-iterations', vus: peak(o), iterations: EACH, maxDuration: '20s' } };
    delete o.duration; delete o.stages; delete o.vus;
  } else if (!shortcuts.length) {
    o.vus = least(o.vus, VUS_MAX);
  }
})(HANDLE);
"""
SUFFIX = SUFFIX.replace("VUS_MAX", str(VUS_MAX)).replace("EACH", str(ITERATIONS_OF_A_VU)).replace("SHARED_MAX", str(SHARED_ITERATIONS_MAX))

SLEEP = re.compile(r"import\s*\{([^}]*)\}\s*from\s*(['\"])k6\2[ \t]*;?")
CAPPED = "function sleep(s){return __capped_sleep(s>0.05?0.05:s)};"


def cap_sleep(text):
    def renamed(found):
        names, count = re.subn(r"\bsleep\b(?!\s+as\b)", "sleep as __capped_sleep", found.group(1))
        if count != 1 or " as sleep" in found.group(1):
            return found.group(0)
        return f"import {{{names}}} from 'k6';{CAPPED}"

    return SLEEP.sub(renamed, text, count=1)


# What a sort gives when its comparison is chance depends on the algorithm, even where the chance is the same.
CHANCE_SORT = re.compile(r"\.sort\([^;]{0,80}Math\.random")


def handle(text):
    """How the script's own options object is reached at its end, or None."""
    if found := re.search(r"export\s*\{[^}]*?\b(\w+)\s+as\s+options\b[^}]*\}(?!\s*from)", text):
        return found.group(1)
    if found := re.search(r"export\s*\{[^}]*\boptions\b[^}]*\}\s*from\s*(['\"][^'\"]+['\"])", text):
        return f"__options;import {{options as __options}} from {found.group(1)};("
    if re.search(r"\b(?:const|let|var)\s+options\b", text) or re.search(r"import\s*\{[^}]*\boptions\b[^}]*\}\s*from", text):
        return "options"
    if re.search(r"exports\.options\s*=", text):
        return "module.exports.options"
    return None


def entry(text):
    """The text of a test, short and repeatable."""
    place = handle(text)
    prefix = "" if CHANCE_SORT.search(text) else PREFIX
    if place is None:
        return prefix + text
    if place.startswith("__options;"):
        imported = place.removeprefix("__options;").removesuffix("(")
        return prefix + text + "\n" + imported + SUFFIX.replace("HANDLE", "__options")
    return prefix + text + SUFFIX.replace("HANDLE", "typeof options==='undefined'?undefined:options" if place == "options" else place)
