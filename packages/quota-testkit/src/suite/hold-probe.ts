import assert from 'node:assert/strict'
import { slotsCell } from '@scoregw/quota/internal'
import type {
  AsyncHolds,
  CellSchema,
  EndedHold,
  HoldOptions,
  HoldRef,
  HoldReply,
  ListHoldsReply,
  Overrun,
  QuotaStore,
  SettleHoldOutcome,
  SettleHoldReply,
  SyncHolds,
  TakeReply,
} from '@scoregw/quota/store'
import {
  type Amount,
  idOf,
  ONE_WINDOW,
  PERSONAL,
  Probe,
  type ProbeOptions,
  SECOND_MS,
  SITE,
  tokenCells,
} from './probe.ts'
import type { Table } from './table.ts'

export const MINUTE_MS = 60_000
/** More holds than any case has. */
const MOST_ENDED = 1_000
/** The default lifetime of holds in these cases. Shorter than any window. */
export const HOLD_MS: number = 60 * SECOND_MS

/** A window of one hour and slots, in a layer of subjects. */
export const SLOTS: Table = { ...ONE_WINDOW, cells: withSlots(ONE_WINDOW.cells, 'running') }
/** The same, plus a shared layer. */
export const SHARED_SLOTS: Table = { ...SLOTS, layers: [PERSONAL, SITE] }

/** Adds slots to cells of tokens. */
export function withSlots(cells: readonly CellSchema[], label: string): readonly CellSchema[] {
  return [...cells, ...tokenCells(slotsCell(label))]
}

/** How a request differs from the default hold. */
export interface HoldProbeOptions extends Omit<ProbeOptions, 'id' | 'hold'>, Partial<HoldOptions> {
  readonly nonce?: string
  readonly fingerprint?: string
  /** How long the id's record is kept after the hold. */
  readonly idTtlMs?: number
  readonly actual?: Amount
  readonly overrun?: Overrun
  readonly maxOverrun?: Amount
}

/** The result of a settlement, in short form. */
export type Settled = readonly [outcome: SettleHoldOutcome, charged: Amount, uncharged: Amount, reserved: Amount]

/** Calls about holds, to one store with one schema and default values. */
export class HoldProbe extends Probe {
  /** Requests a hold with an id, and returns any reply. */
  async hold(id: string, cost: Amount, options: HoldProbeOptions = {}): Promise<TakeReply> {
    const { ttlMs = HOLD_MS, maxHolds = 100 } = options
    return this.take(cost, { ...options, id: this.#idOf(id, options), hold: { ttlMs, maxHolds } })
  }

  async held(id: string, cost: Amount, options: HoldProbeOptions = {}): Promise<TakeReply> {
    const reply = await this.hold(id, cost, options)
    assert.equal(reply.outcome, 'admitted', `a hold of ${String(cost)}, cells ${JSON.stringify(reply.states)}`)
    return reply
  }

  async extend(id: string, ttlMs: number, options: HoldProbeOptions = {}): Promise<HoldReply> {
    return this.#holds(options.store).extend({ ...this.#ref(id, options), ttlMs })
  }

  async grow(id: string, cost: Amount, options: HoldProbeOptions = {}): Promise<HoldReply> {
    const { settingsRevision } = options
    const costs = [...this.amounts(cost), 0]
    const asked = { ...this.#ref(id, options), costs, ...this.terms(options), settingsRevision }
    return this.compact(await this.#holds(options.store).grow(asked), options)
  }

  async settleHold(
    id: string,
    as: 'committed' | 'cancelled',
    options: HoldProbeOptions = {},
  ): Promise<SettleHoldReply> {
    const { overrun = 'refuse', maxOverrun: most = 0 } = options
    const actual = options.actual === undefined ? undefined : this.amounts(options.actual)
    const maxOverrun = this.amounts(most)
    const asked = { ...this.#ref(id, options), as, actual, overrun, maxOverrun, ...this.terms(options) }
    return this.compact(await this.#holds(options.store).settle(asked), options)
  }

  /** Commits, and returns the result in short form. */
  async committed(id: string, options: HoldProbeOptions = {}): Promise<Settled> {
    const { outcome, charged, uncharged, reserved } = await this.settleHold(id, 'committed', options)
    return [outcome, this.amount(charged), this.amount(uncharged), this.amount(reserved)]
  }

  async released(id: string, options: HoldProbeOptions = {}): Promise<SettleHoldOutcome> {
    return (await this.settleHold(id, 'cancelled', options)).outcome
  }

  /** The open holds of a subject, with their charges in all rows of its layers. */
  async list(options: HoldProbeOptions = {}): Promise<ListHoldsReply> {
    return this.#holds(options.store).list({ subject: options.subject ?? 'u' })
  }

  /** Sweeps until nothing is left, and returns the ended holds. */
  async sweep(...stores: readonly QuotaStore[]): Promise<readonly EndedHold[]> {
    const all: EndedHold[] = []
    for (const store of stores.length > 0 ? stores : [undefined]) {
      for (let ended: readonly EndedHold[]; ; all.push(...ended)) {
        ended = (await this.#holds(store).sweep()).ended
        if (ended.length === 0) break
        assert.ok(all.length < MOST_ENDED, 'a sweep ends no hold twice')
      }
    }
    return all
  }

  /** The number of open holds of all subjects. */
  async open(): Promise<number> {
    return (await this.#holds(undefined).sweep()).open
  }

  /** The slots in use in each layer, the last number of each row. */
  async slots(options: HoldProbeOptions = {}): Promise<number[]> {
    const width = this.table.cells.length
    return (await this.used(options)).filter((_, index) => index % width === width - 1)
  }

  #holds(store: QuotaStore | undefined): SyncHolds | AsyncHolds {
    const { holds } = this.counters(store)
    assert.ok(holds !== undefined, 'a store that can hold has counters with `holds`')
    return holds
  }

  #ref(id: string, options: HoldProbeOptions): HoldRef {
    return { subject: options.subject ?? 'u', id: this.#idOf(id, options) }
  }

  #idOf(id: string, { nonce = 'nonce-a', fingerprint = 'hold read:1', idTtlMs = 600_000 }: HoldProbeOptions) {
    return idOf(id, nonce, fingerprint, idTtlMs)
  }
}
