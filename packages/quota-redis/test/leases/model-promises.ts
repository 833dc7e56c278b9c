import { type ModelOwn, PERSONAL_LIMITS } from './model-own.ts'
import type { Lease, Work } from './model-parts.ts'
import { type ModelSite, SITE_KINDS } from './model-site.ts'

/** A process: what it holds, and what it has heard of. */
export interface ModelProcess {
  leases: Lease[]
  version: number
  /** The first of two periods that it sends. */
  period: number
}

/** What can be seen of a model from outside. */
export interface Played {
  now: number
  readonly site: ModelSite
  /** One a process: its user's. */
  readonly owns: readonly ModelOwn[]
  readonly processes: readonly ModelProcess[]
  readonly works: readonly Work[]
}

/** A promise was broken. */
export class Violation extends Error {}

function servedOf({ works }: Played): Work[] {
  return works.filter(({ state }) => state === 'admitted' || state === 'doubt')
}

/** What must hold at every moment. */
export function checkPromises(model: Played): void {
  const served = servedOf(model)
  for (const w of SITE_KINDS.keys()) {
    for (const start of new Set(served.map(({ starts }) => starts[w]!))) {
      const those = served.filter(({ starts }) => starts[w] === start)
      const sum = sumOf(those)
      const limit = model.site.limitOf(w, Math.max(...those.map((work) => work.limit)))
      if (sum > limit) throw new Violation(`${sum} of ${limit} tokens in site window ${w}`)
    }
  }
  for (const [process, limit] of PERSONAL_LIMITS.entries()) {
    const those = served.filter((work) => work.process === process && work.personalStart > 0)
    for (const start of new Set(those.map(({ personalStart }) => personalStart))) {
      const sum = sumOf(those.filter(({ personalStart }) => personalStart === start))
      if (sum > limit) throw new Violation(`${sum} of ${limit} tokens in a personal window`)
    }
  }
  checkBalance(model, (used, known) => used >= known)
}

/** Of every site window that is open: its debits, and the tokens known to have been spent or to be leased. */
export function checkBalance(model: Played, isRight: (used: number, known: number) => boolean): void {
  const served = servedOf(model)
  const leases = model.processes.flatMap((process) => process.leases)
  for (const [w, window] of model.site.windows.entries()) {
    if (!window.isOpen(model.now)) continue
    const spent = sumOf(served.filter(({ starts }) => starts[w] === window.start))
    const idle = leases.reduce((sum, { starts, tokens }) => sum + (starts[w] === window.start ? tokens : 0), 0)
    if (!isRight(window.used, spent + idle)) {
      throw new Violation(`${window.used} debited in site window ${w}, ${spent} spent and ${idle} leased`)
    }
  }
}

/** When nothing is in flight: each open window must have been opened for some work. */
export function checkFinish(model: Played): void {
  const served = model.works.filter(({ state }) => state !== 'refused')
  for (const [w, window] of model.site.windows.entries()) {
    const isForSomebody = served.some(({ starts }) => starts[w] === window.start)
    if (window.isOpen(model.now) && !isForSomebody) {
      throw new Violation('a site window is open for nobody')
    }
  }
  for (const [process, own] of model.owns.entries()) {
    const isOpener = (work: Work) => work.process === process && work.personalStart === own.window.start
    if (own.isOpen(model.now) && !served.some(isOpener)) throw new Violation('a personal window is open for nobody')
  }
}

function sumOf(works: readonly Work[]): number {
  return works.reduce((sum, { cost }) => sum + cost, 0)
}
