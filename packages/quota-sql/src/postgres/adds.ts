import { setTimeout as pause } from 'node:timers/promises'
import { newRevision } from '@scoregw/quota/store'
import { type TableNames, tableNames } from '../schema/tables.ts'
import type { Operation } from '../step/operation.ts'
import type { Stored } from '../step/step.ts'
import { storeError } from '../step/store-error.ts'
import { AddBatch, type BatchColumns, kindOf } from './add-batch.ts'
import { type AddColumns, addStatement, columnsOf, rowsOf } from './add-statement.ts'
import { arrayOf } from './arrays.ts'
import { askedBy, type DecisionParts, decideUnlocked } from './decide.ts'
import { isAnswer } from './errors.ts'
import { type Lease, Line } from './line.ts'
import { type Row, Session, type SessionParts } from './session.ts'
import { look } from './transaction.ts'

/** What {@link Adds} work with. */
export interface AddParts extends SessionParts, DecisionParts {
  /** Carries out operations in a transaction that locks what they read. */
  readonly lockFor: (operations: readonly Operation[]) => void
  /** The server answered. */
  readonly answered: () => void
  /** A statement got no answer. */
  readonly unanswered: (error: unknown) => void
  /** Something goes on of which nobody waits for the end. */
  readonly follow: (end: Promise<void>) => void
}

/** How long a statement waits for a row that another transaction holds, as a part of the deadline; and at most. */
const LOCK_SHARE = 4
const MOST_LOCK_MS = 500
/** Pause before a server that is away is asked again, in milliseconds. */
const AGAIN_AFTER_MS = 20

/** How long a statement is waited for that nobody waits for any more, in milliseconds. */
const LISTEN_MS = 5_000
/** Rows of a statement that is planned. */
const PLANNED_ROWS = 100
/** No settings have it. */
const NO_REVISION = 'none'

/** A place in the database where the last statement of some leaves its number: see `closeFence`. */
interface Fence {
  readonly id: string
  seq: number
  /** Whether it is there, as far as known. */
  isKept: boolean
}

/** A statement under way. */
interface Sending {
  readonly batch: AddBatch
  readonly fence: Fence
  session?: Session
  isSent: boolean
  /** Resolves when nobody waits for it any more. */
  readonly left: Promise<'left'>
  readonly leave: () => void
}

/**
 * Takes that only add to rows, one statement for all of a kind: the usual way. What the statement could not add is decided
 * on the rows as it saw them, where that changes nothing, and by {@link AddParts.lockFor} otherwise.
 */
export class Adds {
  readonly #parts: AddParts
  readonly #names: TableNames
  readonly #texts = new Map<string, readonly [name: string, text: string]>()
  /** Fences that no statement uses at the moment. */
  readonly #fences: Fence[] = []
  readonly #sending = new Set<Sending>()
  readonly #line: Line
  #isAnswering = true

  constructor(parts: AddParts) {
    this.#parts = parts
    this.#names = tableNames(parts.prefix)
    this.#line = new Line(parts)
  }

  /** Whether the last thing that was asked of the server was answered: where it was not, this is no way. */
  set isAnswering(isAnswering: boolean) {
    this.#isAnswering = isAnswering
  }

  /** Whether this is the way for an operation. */
  takes({ charge }: Operation): boolean {
    return charge !== undefined && this.#isAnswering && this.#parts.layouts.isKept(charge.rows.layout)
  }

  /** Whether an operation may have been done, as far as known. */
  mayHaveDone(operation: Operation): boolean {
    return [...this.#sending].some(({ isSent, batch }) => isSent && batch.operations.includes(operation))
  }

  /** To be called when operations have failed from outside. */
  look(): void {
    for (const { batch, leave } of this.#sending) if (batch.operations.every(({ isOver }) => isOver)) leave()
  }

  /** Answers operations, or passes them on. Never rejects. */
  async make(operations: readonly Operation[]): Promise<void> {
    const batches = new Map<string, AddBatch>()
    for (const operation of operations) {
      const { charge, isOver } = operation
      if (charge === undefined || isOver) continue
      const kind = kindOf(charge)
      const batch = batches.get(kind) ?? new AddBatch(charge)
      batches.set(kind, batch)
      batch.add(operation, charge)
    }
    await Promise.all([...batches.values()].map((batch) => this.#make(batch)))
  }

  async #make(batch: AddBatch): Promise<void> {
    let leave = (): void => undefined
    const left = new Promise<'left'>((resolve) => {
      leave = () => resolve('left')
    })
    const fence = this.#fences.pop() ?? { id: newRevision(), seq: 0, isKept: false }
    const sending: Sending = { batch, fence, isSent: false, left, leave }
    this.#sending.add(sending)
    const made = this.#send(sending).finally(() => this.#sending.delete(sending))
    if ((await Promise.race([made, left])) !== 'left') return
    // A late answer is one too: what was admitted is given back.
    const timer = setTimeout(() => sending.session?.release(true), LISTEN_MS).unref()
    this.#parts.follow(made.finally(() => clearTimeout(timer)))
  }

  async #send(sending: Sending): Promise<void> {
    const { batch, fence } = sending
    const { answered, unanswered, lockFor } = this.#parts
    const columns = batch.columns()
    const lease = this.#line.lease()
    let row: Row
    try {
      row = await this.#sent(sending, lease, columns)
    } catch (error) {
      const isRefused = isAnswer(error)
      if (!isRefused) this.#line.end(lease)
      lease.give(!isRefused)
      // An error may say that it is not there any more.
      fence.isKept = false
      if (isRefused) answered()
      else unanswered(error)
      if (sending.isSent && !isRefused) return this.#find(sending, error)
      this.#fences.push(fence)
      return lockFor(batch.operations)
    }
    lease.give(false)
    this.#fences.push(fence)
    answered()
    this.#answer(batch, columns, row)
  }

  async #sent(sending: Sending, lease: Lease, { own, shared, first }: BatchColumns): Promise<Row> {
    const { batch, fence } = sending
    const { deadlineMs, now } = this.#parts
    const [name, text] = this.#textOf(batch)
    const session = await lease.take()
    sending.session = session
    await session.planText(name, text, () => valuesFor(batch))
    if (!fence.isKept) await session.run('keepFence', [fence.id, fence.seq, now?.() ?? null])
    fence.isKept = true
    fence.seq++
    sending.isSent = true
    const values = [...first, ...arraysOf(own), ...rowsOf(shared)]
    const lockMs = Math.min(MOST_LOCK_MS, Math.ceil(deadlineMs / LOCK_SHARE))
    const [row] = await session.query(name, text, [
      batch.layout.hash,
      batch.revision ?? null,
      `${lockMs}ms`,
      deadlineMs,
      now?.() ?? null,
      fence.id,
      fence.seq,
      ...values,
    ])
    if (row === undefined) throw new TypeError('a statement that adds gives one row')
    return row
  }

  #answer(batch: AddBatch, columns: BatchColumns, [now, revision, added, own, shared, keys, rows]: Row): void {
    const isAll = Number(added) === columns.own.keys.length
    const names = isAll ? undefined : (JSON.parse(String(keys ?? '[]')) as string[])
    const left = batch.answer(Number(now), pairsOf(own), pairsOf(shared), names)
    if (left.length === 0) return
    const { layouts, lockFor } = this.#parts
    const found = JSON.parse(String(rows ?? '[]')) as readonly (readonly [string, number, string, number | null])[]
    const stored: Stored = {
      now: Number(now),
      revision: String(revision),
      rows: new Map(found.map(([key, layout, cells, endsAt]) => [key, layouts.row(layout, cells, endsAt)])),
      ids: new Map(),
      holds: [],
    }
    // What was not seen: rows of takes that did not fit with the others, and those of layouts that were not read here.
    const seen = new Set([...columns.own.keys, ...columns.shared.keys])
    for (const [key, layout] of found) if (layouts.get(layout) === undefined) seen.delete(key)
    const others = left.filter((operation) => {
      const isSeen = !isAll && operation.footprint.rows?.every(({ key }) => seen.has(key)) === true
      if (!isSeen || !decideUnlocked(operation, stored, this.#parts)) return true
      operation.done()
      return false
    })
    lockFor(others)
  }

  /** Finds out whether a statement was made whose answer was lost; from now on it is not made any more. */
  async #find({ batch, fence, left }: Sending, error: unknown): Promise<void> {
    const { answered, lockFor } = this.#parts
    while (batch.operations.some(({ isOver }) => !isOver)) {
      const found = await Promise.race([this.#found(batch, fence).catch(() => undefined), left])
      if (found === 'left') return
      if (found === 'unknown') {
        const lost = storeError('the connection to PostgreSQL broke before the answer to a charge', error)
        for (const operation of batch.operations) operation.fail(lost)
        return
      }
      if (found !== undefined) {
        answered()
        this.#fences.push(fence)
        return lockFor(found)
      }
      await Promise.race([pause(AGAIN_AFTER_MS), left])
    }
  }

  /** @returns the operations that were not made; `unknown`: the fence is not there */
  async #found(batch: AddBatch, { id, seq }: Fence): Promise<readonly Operation[] | 'unknown'> {
    const session = await Session.open(this.#parts)
    let isUsable = false
    try {
      const [row] = await session.run('closeFence', [id, seq])
      const isMade = row !== undefined && Number(row[0]) >= seq
      const stored = isMade ? await look(session, askedBy(batch.operations), this.#parts.layouts) : undefined
      isUsable = true
      if (row === undefined) return 'unknown'
      if (stored === undefined) return batch.operations
      const keys = row[2] === null ? undefined : (JSON.parse(String(row[2])) as string[])
      return batch.answerLate(Number(row[1]), stored.rows, keys)
    } catch (error) {
      isUsable = isAnswer(error)
      throw error
    } finally {
      session.release(!isUsable)
    }
  }

  #textOf({ shape, layout }: AddBatch): readonly [name: string, text: string] {
    const id = `${layout.hash} ${shape.isGrouped} ${shape.shared}`
    const known = this.#texts.get(id)
    if (known !== undefined) return known
    const made = [`${this.#parts.prefix} add ${id}`, addStatement(shape, this.#names)] as const
    this.#texts.set(id, made)
    return made
  }
}

/** The values of a kind for rows: it is planned for many, none of which is made. */
function valuesFor({ shape, layout }: AddBatch): unknown[] {
  const cells = shape.cells.filter(({ kind }) => kind !== 'concurrency')
  const many = (value: number): readonly number[] => Array.from({ length: PLANNED_ROWS }, () => value)
  const columns = {
    keys: many(0).map((_, at) => `no row ${at}`),
    groups: many(0),
    sums: cells.map(() => many(1)),
    limits: cells.map(() => many(1)),
    periods: cells.map(({ kind }) => (kind === 'calendar' ? [many(0), many(0), many(0)] : [])),
  }
  const values = [layout.hash, NO_REVISION, '1s', 1, null, '', 0, 1, PLANNED_ROWS]
  return [...values, ...arraysOf(columns), ...rowsOf(columns).slice(0, shape.shared * columnsOf(columns).length)]
}

function arraysOf(columns: AddColumns): unknown[] {
  return columnsOf(columns).map(arrayOf)
}

/** Numbers of rows, of which each is an array of PostgreSQL's. */
function pairsOf(text: unknown): number[][] {
  if (typeof text !== 'string') return []
  // Cells that nothing was added to may be nothing that a store has written.
  return JSON.parse(`[[${text.slice(1, -1).replaceAll('}{', '],[').replaceAll('NULL', '-1')}]]`) as number[][]
}
