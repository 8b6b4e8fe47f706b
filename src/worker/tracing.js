// Spans of the runtime.

import { tracing } from 'cloudflare:workers'

/** Starts a span. It is a child of the active span, which is that of the event. */
export function start(name, attributes) {
  const span = tracing.startSpan(name)
  span.setAttributes(Object.fromEntries(attributes))
  return span
}

export function is_recorded(span) {
  return span.isTraced
}

/** Ends a span. The status of a span without an error stays unset, as OpenTelemetry asks for. */
export function end(span, attributes, hasFailed) {
  span.setAttributes(Object.fromEntries(attributes))
  if (hasFailed) span.setStatus({ code: 'error' })
  span.end()
}
