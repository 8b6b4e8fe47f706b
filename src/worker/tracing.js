// Spans of the runtime. An exception of the runtime does not fail the operation, and only the first one is logged.

import { tracing } from 'cloudflare:workers'

let hasFailed = false

function attempt(work) {
  try {
    return work()
  } catch (error) {
    if (!hasFailed) console.error('spans are not recorded:', error)
    hasFailed = true
  }
}

/** Starts a span. It is a child of the active span, which is that of the event. Returns undefined if the runtime fails. */
export function start(name, attributes) {
  const span = attempt(() => tracing.startSpan(name))
  attempt(() => span?.setAttributes(Object.fromEntries(attributes)))
  return span
}

export function is_recorded(span) {
  return attempt(() => span?.isTraced) ?? false
}

/** Ends a span. The status of a span without an error stays unset, as OpenTelemetry asks for. */
export function end(span, attributes, isError) {
  attempt(() => span?.setAttributes(Object.fromEntries(attributes)))
  if (isError) attempt(() => span?.setStatus({ code: 'error' }))
  attempt(() => span?.end())
}
