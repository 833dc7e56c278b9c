import { Instant, type Layout, view } from '@scoregw/quota/internal'
import type { TakeReply } from '@scoregw/quota/store'
import { COLUMN_CELLS } from '../schema/tables.ts'
import type { Operation } from '../step/operation.ts'
import type { Charge } from '../step/requested.ts'
import { hasNoRoom, isBetween } from './errors.ts'
import type { Row } from './session.ts'
import { type Statement, statementOf } from './statements.ts'
import { type PlannedRow, type TakeSettings, TakeText, type Value } from './take-statement.ts'
import type { Commit } from './transaction.ts'

/** A take without id and hold. */
interface PlannedTake {
  readonly operation: Operation
  readonly charge: Charge
  readonly plan: TakePlan
}

/** A few takes, each one statement in autocommit: the usual way. They are sent together, and made in order. */
export function takes(operations: readonly Operation[], plans: TakePlans): Commit {
  const planned = operations.flatMap((operation): PlannedTake[] => {
    const { charge } = operation
    const plan = charge && plans.of(charge)
    return charge === undefined || plan === undefined ? [] : [{ operation, charge, plan }]
  })
  const fitting = planned.filter(({ charge, plan }) => plan.canFit(charge))
  return async (session, sent) => {
    if (fitting.length > 0) sent()
    const rows = session.together(() =>
      fitting.map(({ charge, plan }) => session.run(plan.statement, plan.values(charge))),
    )
    const settled = await Promise.allSettled(rows)
    const done = new Set<Operation>()
    for (const [at, take] of fitting.entries()) {
      const each = settled[at]
      if (each?.status === 'fulfilled' && answer(take, each.value)) done.add(take.operation)
    }
    const failed = settled.find((each) => each.status === 'rejected' && !isUndone(each.reason))
    if (failed?.status === 'rejected') throw failed.reason
    return operations.filter((operation) => !done.has(operation))
  }
}

/** Whether a statement was undone because a row had no room, or was locked for too long. */
function isUndone(error: unknown): boolean {
  return hasNoRoom(error) || isBetween(error)
}

/** @returns whether the take was made */
function answer({ operation, charge, plan }: PlannedTake, [row]: readonly Row[]): boolean {
  if (row === undefined) return false
  operation.decided(plan.reply(charge, row))
  operation.done()
  return true
}

// Plans ---------------------------------------------------------------------------------------------------------------

/** The statement of takes in the same limits that cost something of the same units. */
class TakePlan {
  readonly statement: Statement
  readonly #values: readonly Value[]
  /** In the order of the answer's columns. */
  readonly #rows: readonly PlannedRow[]
  readonly #places: Layout
  readonly #instant: Instant

  private constructor(rows: readonly PlannedRow[], charge: Charge, settings: TakeSettings) {
    const text = new TakeText(rows, charge, settings)
    this.statement = statementOf(text.text())
    this.#values = text.values
    this.#rows = text.rows
    this.#places = charge.rows.places
    this.#instant = new Instant(this.#places)
  }

  /** `undefined` if no statement can make such takes. */
  static of(charge: Charge, settings: TakeSettings): TakePlan | undefined {
    const rows = plannedRows(charge)
    const hasColumns = rows.every(({ layout }) => layout.size <= COLUMN_CELLS)
    return hasColumns && rows.some(({ charged }) => charged.length > 0)
      ? new TakePlan(rows, charge, settings)
      : undefined
  }

  /** Whether the take fits if nothing is used. Otherwise no statement is needed to refuse it. */
  canFit({ request: { costs, quotas } }: Charge): boolean {
    return this.#rows.every(({ layout: { first, units }, charged }) => {
      return charged.every((c) => costs[units[c]!]! <= quotas.limits[first + c]!)
    })
  }

  values(charge: Charge): unknown[] {
    return this.#values.map((value) => value(charge))
  }

  /** @param row of the statement's answer */
  reply({ request: { periods } }: Charge, [at, ...columns]: Row): TakeReply {
    const now = Number(at)
    this.#instant.moveTo(now, periods)
    const states = this.#places.blank.slice()
    // Cells that nothing was charged to may contain values that no store has written.
    const cells = columns.map((column) => Number(column ?? -1))
    let i = 0
    for (const { layout, counted } of this.#rows) {
      for (const c of counted) {
        view(cells, i, this.#instant.after[layout.first + c]!, now, states, 2 * (layout.first + c))
        i += 2
      }
    }
    return { outcome: 'admitted', now, states }
  }
}

/** The plans of a store, each made once. */
export class TakePlans {
  readonly #settings: TakeSettings
  readonly #plans = new WeakMap<object, Map<string, TakePlan | undefined>>()

  constructor(settings: TakeSettings) {
    this.#settings = settings
  }

  of(charge: Charge): TakePlan | undefined {
    const { rows, layers, request } = charge
    const plans = this.#plans.get(rows) ?? new Map<string, TakePlan | undefined>()
    this.#plans.set(rows, plans)
    let key = `${request.set} ${layers} ${request.settingsRevision === undefined} `
    for (const cost of request.costs) key += cost > 0 ? '1' : '0'
    const known = plans.get(key)
    if (known !== undefined || plans.has(key)) return known
    const plan = TakePlan.of(charge, this.#settings)
    plans.set(key, plan)
    return plan
  }
}

/** The rows of a take in the order of locks: own rows by layer, then shared ones. */
function plannedRows({ rows: { schema, places }, layers, request }: Charge): PlannedRow[] {
  const rows = layers.map((layer, slot) => {
    const layout = places.rows[layer]!
    const counted = places.counted[request.set]![layer]!.map((at) => at - layout.first)
    const charged = counted.filter((c) => c < layout.width && request.costs[layout.units[c]!]! > 0)
    const { name, shared: isShared } = schema.layers[layer]!
    return { name: `${name}:`, slot, isShared, layout, counted, charged }
  })
  return rows.sort((a, b) => Number(a.isShared) - Number(b.isShared) || (a.name < b.name ? -1 : 1))
}
