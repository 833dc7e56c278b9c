import type { Operation } from '../step/operation.ts'
import type { Charge } from '../step/schema-rows.ts'
import { BatchTransaction, type TransactionDeps } from './batch-transaction.ts'
import { hasNoRoom, isBetween } from './errors.ts'
import type { Row, Session, SharedConnection } from './session.ts'
import type { TakePlan } from './take-plan.ts'

/** A take without id and hold. */
export interface PlannedTake {
  readonly operation: Operation
  readonly charge: Charge
  readonly plan: TakePlan
}

/** A few takes, each one statement in autocommit: the usual way. They are sent together, and made in order. */
export class TakesTransaction extends BatchTransaction {
  readonly #takes: readonly PlannedTake[]

  constructor(deps: TransactionDeps, takes: readonly PlannedTake[], connection: SharedConnection) {
    const operations = takes.map(({ operation }) => operation)
    super(deps, operations, connection)
    this.#takes = takes
  }

  protected async commit(session: Session): Promise<readonly Operation[]> {
    const takes = this.#takes.filter(({ charge, plan }) => plan.canFit(charge))
    if (takes.length > 0) this.sent()
    const rows = session.together(() =>
      takes.map(({ charge, plan }) => session.run(plan.statement, plan.values(charge))),
    )
    const settled = await Promise.allSettled(rows)
    for (const [at, each] of settled.entries()) if (each.status === 'fulfilled') answer(takes[at]!, each.value)
    const failed = settled.find((each) => each.status === 'rejected' && !isUndone(each.reason))
    if (failed?.status === 'rejected') throw failed.reason
    const done = new Set(takes.filter((_, at) => hasRow(settled[at])).map(({ operation }) => operation))
    return this.operations.filter((operation) => !done.has(operation))
  }
}

/** Whether a statement was undone because a row had no room, or was locked for too long. */
function isUndone(error: unknown): boolean {
  return hasNoRoom(error) || isBetween(error)
}

function hasRow(settled: PromiseSettledResult<readonly Row[]> | undefined): boolean {
  return settled?.status === 'fulfilled' && settled.value.length > 0
}

function answer({ operation, charge, plan }: PlannedTake, [row]: readonly Row[]): void {
  if (row === undefined) return
  operation.decided(plan.reply(charge, row))
  operation.done()
}
