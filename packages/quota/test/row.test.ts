import { describe, expect, it } from 'vitest'
import { ALWAYS_OPEN } from '../src/windows/kinds/kind.ts'
import { add, cameBack, MAX_USED, reanchor, refund, rollBucket, timeFor } from '../src/windows/row.ts'
import { HOUR, START } from './support.ts'

describe('the cells of a row', () => {
  it('a count stops at its maximum, and no refund lowers it from there', () => {
    const cells = [START, MAX_USED - 1]
    add(cells, 0, 5)
    expect(cells).toEqual([START, MAX_USED])
    refund(cells, 0, START, 3)
    expect(cells).toEqual([START, MAX_USED])
  })

  it('a window that starts far ahead moves to the present, and slots don’t', () => {
    const cells = [START + HOUR, 1, START + HOUR, 1]
    reanchor(cells, 0, START - HOUR, START)
    reanchor(cells, 2, ALWAYS_OPEN, START)
    expect(cells).toEqual([START + 1, 1, START + HOUR, 1])
  })

  it('a bucket to which exactly all has come back opens again', () => {
    const cells = [START, 10]
    const now = START + HOUR / 2
    rollBucket(cells, 0, now - 2 * HOUR, now - 1, 20, HOUR)
    expect(cells).toEqual([START, 10])
    rollBucket(cells, 0, now - 2 * HOUR, now, 20, HOUR)
    expect(cells).toEqual([now, 0])
  })

  it.each([
    [1, 3, 10, 4],
    [3, 3, 10, 10],
    [2 ** 40, 2 ** 40 - 1, 2 ** 20, 2 ** 20 + 1],
  ])('%i tokens at %i per %i ms have come back after %i ms, and not before', (tokens, rate, perMs, ms) => {
    expect(timeFor(tokens, rate, perMs)).toBe(ms)
    expect([cameBack(ms, rate, perMs) >= tokens, cameBack(ms - 1, rate, perMs) >= tokens]).toEqual([true, false])
  })
})
