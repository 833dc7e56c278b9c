import type { TableNames } from '../schema/tables.ts'
import type { Operation } from '../step/operation.ts'
import { AddBatch, kindOf } from './add-batch.ts'
import { addStatement, columnsOf, rowsOf } from './add-statement.ts'
import { arrayOf, type Line, type Session } from './session.ts'
import { askedBy, read } from './transaction.ts'
import { Turn, type TurnParts } from './turn.ts'

/** How long a statement waits for a row that another transaction holds, as a part of the deadline; and at most. */
const LOCK_SHARE = 4
const MOST_LOCK_MS = 500

/** Statements by what they are made for, made once. */
export class AddStatements {
  readonly #names: TableNames
  readonly #texts = new Map<string, string>()

  constructor(names: TableNames) {
    this.#names = names
  }

  of({ shape, layout }: AddBatch): readonly [name: string, text: string] {
    const name = `add ${layout.hash} ${shape.isGrouped} ${shape.shared}`
    const text = this.#texts.get(name) ?? addStatement(shape, this.#names)
    this.#texts.set(name, text)
    return [name, text]
  }
}

/** A turn for all takes of a kind: see {@link AddTurn}. */
export function addTurns(
  parts: TurnParts,
  operations: readonly Operation[],
  statements: AddStatements,
  line: Line,
): AddTurn[] {
  const batches = new Map<string, AddBatch>()
  for (const operation of operations) {
    const { charge, isOver } = operation
    if (charge === undefined || isOver) continue
    const kind = kindOf(charge)
    const batch = batches.get(kind) ?? new AddBatch(charge)
    batches.set(kind, batch)
    batch.add(operation, charge)
  }
  return [...batches.values()].map((batch) => new AddTurn(parts, batch, statements, line))
}

/**
 * Takes that only add to rows, by one statement: the usual way.
 */
export class AddTurn extends Turn {
  readonly #batch: AddBatch
  readonly #statement: readonly [name: string, text: string]

  constructor(parts: TurnParts, batch: AddBatch, statements: AddStatements, line: Line) {
    super(parts, batch.operations, line)
    this.#batch = batch
    this.#statement = statements.of(batch)
  }

  protected async commit(session: Session): Promise<readonly Operation[]> {
    const { deadlineMs, now } = this.parts
    const { layout, revision } = this.#batch
    const { own, shared, first } = this.#batch.columns()
    const lockMs = Math.min(MOST_LOCK_MS, Math.ceil(deadlineMs / LOCK_SHARE))
    const settings = [layout.hash, revision ?? null, `${lockMs}ms`, deadlineMs, now?.() ?? null]
    const values = [...first, ...columnsOf(own).map(arrayOf), ...rowsOf(shared)]
    const [row = []] = await session.query(...this.#statement, [...settings, ...this.send(), ...values])
    const [at, added, ownCells, sharedCells, keys] = row
    const names = Number(added) === own.keys.length ? undefined : (JSON.parse(String(keys ?? '[]')) as string[])
    return this.#batch.answer(Number(at), pairsOf(ownCells), pairsOf(sharedCells), names)
  }

  protected async found(session: Session, at: number, keys?: readonly string[]): Promise<readonly Operation[]> {
    const { rows } = await read(session, askedBy(this.operations), this.parts.layouts)
    return this.#batch.answerLate(at, rows, keys)
  }
}

/** Numbers of rows, of which each is an array of PostgreSQL's. */
function pairsOf(text: unknown): number[][] {
  if (typeof text !== 'string') return []
  // Cells that nothing was added to may be nothing that a store has written.
  return JSON.parse(`[[${text.slice(1, -1).replaceAll('}{', '],[').replaceAll('NULL', '-1')}]]`) as number[][]
}
