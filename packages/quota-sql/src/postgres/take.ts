import type { Operation } from '../step/operation.ts'
import type { Charge } from '../step/schema-rows.ts'
import { BatchTransaction, type TransactionDeps } from './batch-transaction.ts'
import { hasNoRoom } from './errors.ts'
import type { Session, SharedConnection } from './session.ts'
import type { TakePlan } from './take-plan.ts'

/** A take without id and hold, in one statement: the usual way. */
export class TakeTransaction extends BatchTransaction {
  readonly #charge: Charge
  readonly #plan: TakePlan

  constructor(
    deps: TransactionDeps,
    operation: Operation,
    { charge, plan }: { readonly charge: Charge; readonly plan: TakePlan },
    connection: SharedConnection,
  ) {
    super(deps, [operation], connection)
    this.#charge = charge
    this.#plan = plan
  }

  protected async commit(session: Session): Promise<readonly Operation[]> {
    const [charge, plan] = [this.#charge, this.#plan]
    if (!plan.canFit(charge)) return this.operations
    this.sent()
    const [row] = await session.run(plan.statement, plan.values(charge)).catch((error: unknown) => {
      if (hasNoRoom(error)) return []
      throw error
    })
    if (row === undefined) return this.operations
    for (const operation of this.operations) {
      operation.decided(plan.reply(charge, row))
      operation.done()
    }
    return []
  }
}
