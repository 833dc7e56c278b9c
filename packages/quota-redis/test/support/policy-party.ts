import { once } from 'node:events'
import {
  type AdmittedDecision,
  createQuota,
  type LimitStatus,
  type OneUnit,
  type Policy,
  parsePolicy,
  type Quota,
  type QuotaStatus,
  type Reservation,
} from '@scoregw/quota'
import { Redis } from 'ioredis'
import { redisStore } from '../../src/index.ts'
import { runProgram } from './program.ts'

/** The jobs of a party, one after the other. */
export type PartyJob =
  /** Works from now on under another policy, as `parsePolicy()` reads it, or another prefix. */
  | { readonly kind: 'open'; readonly port: number; readonly prefix: string; readonly policy: unknown }
  /** So many callers together reserve for one subject, each so often, one after the other. */
  | { readonly kind: 'charge'; readonly callers: number; readonly each: number }
  /** Reserves under each id, all at once. */
  | { readonly kind: 'reserve'; readonly ids: readonly string[] }
  /** Cancels whatever it holds, all at once. */
  | { readonly kind: 'rollback' }
  | { readonly kind: 'look' }

/** A counter as a party sees it: its limit's name, and the numbers that a caller may see. */
export interface Seen {
  readonly counter: string
  readonly limit: number
  readonly used: number
  readonly remaining: number
}

export interface PartyReport {
  /** How much this job was admitted. */
  readonly admitted: number
  /** Of `reserve`: one for each id, in order. */
  readonly statuses: readonly Reservation['status'][]
  /** Every counter after the job, and as every decision showed it. */
  readonly now: readonly Seen[]
  readonly shown: readonly Seen[]
}

type Answer = Reservation<OneUnit>

const SUBJECT = 'u'
/** Prices differ, so that the rest is not always taken by the next. */
const costOf = (call: number): number => 1 + (call % 3)

function seen(limits: QuotaStatus['limits'] | AdmittedDecision['limits']): Seen[] {
  return Object.values(limits).map((status) => {
    const { name, limit, used, remaining } = status as LimitStatus
    return { counter: name, limit, used, remaining } as Seen
  })
}

/** Decides by one policy after the other, as its parent asks. */
class Party {
  #quota: Quota<string, OneUnit> | undefined
  #held: Extract<Answer, { status: 'reserved' }>[] = []

  async work(job: PartyJob): Promise<PartyReport> {
    if (job.kind === 'open') await this.#open(job)
    if (job.kind === 'rollback') await Promise.all(this.#held.splice(0).map((reservation) => reservation.cancel()))
    const answers = await this.#reserveAll(job)
    const statuses = answers.map(({ status }) => status)
    const decisions = answers.flatMap(({ decision }) => decision ?? [])
    const admitted = decisions.reduce((sum, { allowed, cost }) => sum + (allowed ? cost : 0), 0)
    const { limits } = await this.#quota!.status(SUBJECT)
    const shown = decisions.flatMap((decision) => seen(decision.limits))
    return { admitted, statuses, now: seen(limits), shown }
  }

  async #reserveAll(job: PartyJob): Promise<Answer[]> {
    if (job.kind === 'reserve') return Promise.all(job.ids.map((id) => this.#reserve(1, id)))
    if (job.kind !== 'charge') return []
    const answers = await Promise.all(
      Array.from({ length: job.callers }, async (_, caller) => {
        const own: Answer[] = []
        for (let n = 0; n < job.each; n++) own.push(await this.#reserve(costOf(caller + n)))
        return own
      }),
    )
    return answers.flat()
  }

  async #reserve(cost: number, id?: string): Promise<Answer> {
    const reservation = await this.#quota!.reserve({ subject: SUBJECT, operation: 'call', cost, id })
    if (reservation.status === 'reserved') this.#held.push(reservation)
    return reservation
  }

  async #open({ port, prefix, policy }: Extract<PartyJob, { kind: 'open' }>): Promise<void> {
    await this.#quota?.close()
    this.#held = []
    const store = redisStore({ client: new Redis({ port, lazyConnect: true }), prefix, deadlineMs: 1_000 })
    this.#quota = createQuota({ policy: parsePolicy(policy) as Policy<string, OneUnit>, store })
    await store.ready()
  }
}

/**
 * Ends when the parent does.
 *
 * @public The text of the child's program imports it.
 */
export function serveParent(): void {
  const party = new Party()
  process.on('message', (job: PartyJob) => {
    party.work(job).then(
      (report) => process.send!({ report }),
      (error: unknown) => process.send!({ error: String(error) }),
    )
  })
  process.on('disconnect', () => process.exit(0))
}

/** A party in a process of its own, which works on one job at a time. */
export function startParty(): { work(job: PartyJob): Promise<PartyReport>; kill(): void } {
  const code = `import { serveParent } from './test/support/policy-party.ts'; serveParent()`
  // Numbers as they are, `NaN` included.
  const child = runProgram(code, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], serialization: 'advanced' })
  return {
    async work(job) {
      child.send(job)
      const [answer] = (await once(child, 'message')) as [{ report?: PartyReport; error?: string }]
      if (answer.report === undefined) throw new Error(`A party could not do its work: ${answer.error}`)
      return answer.report
    },
    kill: () => void child.kill('SIGKILL'),
  }
}
