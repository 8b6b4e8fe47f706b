// The parts of the module `cloudflare:workers` that a built Worker imports. They have no storage behind them.

/** The variables and secrets. A Worker reads them once, so later changes have no effect. */
export const env = { ...process.env }

/** The tracing of a runtime that records no spans. */
export const tracing = { startSpan: () => ({ isTraced: false, setAttributes() {}, setStatus() {}, end() {} }) }

/** The base class of a handler. */
export class WorkerEntrypoint {
  constructor(ctx, env) {
    Object.assign(this, { ctx, env })
  }
}

/** The base class of a Durable Object. Nothing creates such an object here. */
export class DurableObject extends WorkerEntrypoint {}
