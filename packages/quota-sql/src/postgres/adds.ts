import { tableNames } from '../schema/tables.ts'
import type { Operation } from '../step/operation.ts'
import { AddBatch, kindOf } from './add-batch.ts'
import { addStatement } from './add-statement.ts'
import { BatchTransaction, type TransactionDeps } from './batch-transaction.ts'
import type { Session, SharedConnection } from './session.ts'
import { read, requestedBy } from './transaction.ts'

/** A statement waits for a locked row at most the deadline divided by this, and at most the maximum below. */
const LOCK_SHARE = 4
const MOST_LOCK_MS = 500

/**
 * Makes transactions for takes, one per kind: see {@link AddTransaction}. If takes of several kinds may share
 * rows, they lock them instead, so that they are decided in order.
 */
export function addTransactions(
  deps: TransactionDeps,
  operations: readonly Operation[],
  connection: SharedConnection,
  texts: Map<string, string>,
): AddTransaction[] {
  const batches = new Map<string, AddBatch>()
  const kinds = new Map<string, string>()
  const mixed = new Set<string>()
  for (const operation of operations) {
    const { charge, isOver, takesFrom = '' } = operation
    if (charge === undefined || isOver) continue
    const kind = kindOf(charge)
    const batch = batches.get(kind) ?? new AddBatch(charge)
    batches.set(kind, batch)
    batch.add(operation, charge)
    if (kinds.get(takesFrom) !== kind && kinds.has(takesFrom)) mixed.add(takesFrom)
    kinds.set(takesFrom, kind)
  }
  deps.again(operations.filter(({ takesFrom = '' }) => mixed.has(takesFrom)))
  const alike = [...batches.values()].filter(({ operations: [first] }) => !mixed.has(first?.takesFrom ?? ''))
  return alike.map((batch) => new AddTransaction(deps, batch, connection, texts))
}

/** Takes that only add to rows, in one statement: the usual way. */
export class AddTransaction extends BatchTransaction {
  readonly #batch: AddBatch
  readonly #texts: Map<string, string>

  /** @param texts of statements by their names, so that each is made once */
  constructor(deps: TransactionDeps, batch: AddBatch, connection: SharedConnection, texts: Map<string, string>) {
    super(deps, batch.operations, connection)
    this.#batch = batch
    this.#texts = texts
  }

  protected async commit(session: Session): Promise<readonly Operation[]> {
    const { deadlineMs, now, prefix } = this.deps
    const { layout, revision, shape, isEmpty } = this.#batch
    if (isEmpty) return this.operations
    const name = `add ${layout.hash} ${shape.isGrouped} ${shape.shared}`
    const text = this.#texts.get(name) ?? addStatement(shape, tableNames(prefix))
    this.#texts.set(name, text)
    const lockMs = Math.min(MOST_LOCK_MS, Math.ceil(deadlineMs / LOCK_SHARE))
    const settings = [layout.hash, revision ?? null, `${lockMs}ms`, deadlineMs, now?.() ?? null]
    const [row = []] = await session.query(name, text, [...settings, ...this.send(), ...this.#batch.values()])
    const [at, own, shared, keys] = row
    return this.#batch.answer(Number(at), pairsOf(own), pairsOf(shared), JSON.parse(String(keys ?? '[]')) as string[])
  }

  protected async found(session: Session, at: number, keys?: readonly string[]): Promise<readonly Operation[]> {
    const { rows } = await read(session, requestedBy(this.operations), this.deps.layouts)
    return this.#batch.answerLate(at, rows, keys)
  }
}

/** Numbers of rows, of which each is an array of PostgreSQL's. */
function pairsOf(text: unknown): number[][] {
  if (typeof text !== 'string') return []
  // Cells that nothing was added to may contain values that no store has written.
  return JSON.parse(`[[${text.slice(1, -1).replaceAll('}{', '],[').replaceAll('NULL', '-1')}]]`) as number[][]
}
