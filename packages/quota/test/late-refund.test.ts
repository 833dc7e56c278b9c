import { describe, expect, it } from 'vitest'
import { add, CLOSED, clearRow, close, MAX_AHEAD_MS, reanchor, refund, roll } from '../src/windows/row.ts'
import { HOUR, START } from './support.ts'

/** Where the clock stands: where it is right, ahead within a window's length, and ahead of a whole window. */
const INSTANTS = [START, START + MAX_AHEAD_MS + 1, START + HOUR]

/** A charge that was not given back: the reported start, and the opening of the window that it really went to. */
interface Handle {
  readonly start: number
  readonly opening: number
}

interface State {
  readonly now: number
  readonly cells: readonly number[]
  /** Counts the openings; the window in the cells is the last of them, wherever its start was moved. */
  readonly opening: number
  readonly out: readonly Handle[]
  readonly steps: readonly string[]
}

function charge(cells: number[], cost: number, now: number): void {
  roll(cells, 0, now - HOUR, now, now)
  add(cells, 0, cost)
}

function isOpen({ cells, now }: State): boolean {
  return cells[1] !== CLOSED && now < cells[0]! + HOUR
}

function charged(state: State): State {
  const cells = [...state.cells]
  charge(cells, 1, state.now)
  const opening = state.opening + (isOpen(state) ? 0 : 1)
  return { ...state, cells, opening, out: [...state.out, { start: cells[0]!, opening }] }
}

function changed(state: State, change: (cells: number[]) => void): State {
  const cells = [...state.cells]
  change(cells)
  return { ...state, cells }
}

/** Every state one step on. A refund that changes a window which it does not belong to throws the steps. */
function* next(state: State): Generator<State> {
  const step = (name: string, to: State): State => ({ ...to, steps: [...state.steps, name] })
  yield step('charge', charged(state))
  yield step(
    'refusal',
    changed(state, (cells) => reanchor(cells, 0, state.now - HOUR, state.now)),
  )
  yield step(
    'reset',
    changed(state, (cells) => close(cells, 0)),
  )
  for (const now of INSTANTS) if (now !== state.now) yield step(`clock at +${now - START}`, { ...state, now })
  for (const [index, { start, opening }] of state.out.entries()) {
    const after = step(
      `refund of ${start - START}`,
      changed(state, (cells) => refund(cells, 0, start, 1)),
    )
    if (opening !== state.opening && after.cells[1] !== state.cells[1]) throw new Error(after.steps.join(', '))
    yield { ...after, out: state.out.filter((_, other) => other !== index) }
  }
}

function keyOf({ now, cells, opening, out }: State): string {
  return JSON.stringify([now, cells, opening, out])
}

describe('late refunds', () => {
  it('a refund reaches only its own window, also after a clock ran ahead and came back', () => {
    const cells = [0, 0]
    clearRow(cells, 0, 1)
    let states: State[] = [{ now: START, cells, opening: 0, out: [], steps: [] }]
    const seen = new Set<string>()
    for (let depth = 0; depth < 7; depth++) {
      states = states.flatMap((state) => [...next(state)].filter((each) => isNew(each, seen)))
    }
    expect(seen.size).toBeGreaterThan(1_000)
  })

  it('a refund doesn’t reach the window that opened after a reset, even after a refusal with an earlier clock', () => {
    const cells = [0, 0]
    clearRow(cells, 0, 1)
    const ahead = START + MAX_AHEAD_MS + 1
    charge(cells, 5, ahead)
    close(cells, 0)
    reanchor(cells, 0, START - HOUR, START)
    charge(cells, 5, ahead)
    refund(cells, 0, ahead, 5)
    expect(cells).toEqual([ahead + 1, 5])
  })
})

function isNew(state: State, seen: Set<string>): boolean {
  const key = keyOf(state)
  if (seen.has(key)) return false
  seen.add(key)
  return true
}
