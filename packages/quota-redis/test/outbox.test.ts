import { describe, expect, it } from 'vitest'
import { type Batched, Outbox } from '../src/counters/calls.ts'

class Numbers implements Batched<number> {
  readonly operations: number[] = []
  readonly isFull = false

  add(operation: number): void {
    this.operations.push(operation)
  }
}

/** An outbox whose ticks end, whose timers fire and whose calls are answered by hand. */
function outbox() {
  const sent: number[][] = []
  const answers: (() => void)[] = []
  const timers: { readonly ms: number; readonly fire: () => void }[] = []
  let ends: (() => void)[] = []
  let underWay = 0
  const box = new Outbox<number, Numbers>({
    tick: {
      atEnd: (send) => void ends.push(send),
      after(ms, fire) {
        const timer = { ms, fire }
        timers.push(timer)
        return () => void timers.splice(timers.indexOf(timer), 1)
      },
    },
    gather: () => new Numbers(),
    inFlight: () => underWay,
    send({ operations }) {
      sent.push(operations)
      return new Promise((resolve) => {
        answers.push(resolve)
      })
    },
    done(operations) {
      underWay -= operations
    },
  })
  return {
    sent,
    timers,
    add(...operations: number[]) {
      for (const operation of operations) {
        underWay++
        box.add(operation)
      }
    },
    endTick() {
      const now = ends
      ends = []
      for (const send of now) send()
    },
    async answer() {
      answers.shift()?.()
      await Promise.resolve()
      await Promise.resolve()
    },
  }
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, index) => from + index)

describe('requests of one tick', () => {
  it('requests of one tick are sent together at its end', () => {
    const box = outbox()
    box.add(1, 2)
    expect(box.sent).toEqual([])
    box.endTick()
    box.add(3)
    box.endTick()
    expect(box.sent).toEqual([[1, 2], [3]])
  })

  it('requests are sent before the tick ends if they fill a call', () => {
    const box = outbox()
    box.add(...range(0, 33))
    expect(box.sent).toEqual([range(0, 32)])
  })
})

describe('calls while two are in flight', () => {
  function busy() {
    const box = outbox()
    for (const operation of [1, 2]) {
      box.add(operation)
      box.endTick()
    }
    box.add(3)
    box.endTick()
    return box
  }

  it('a third call waits and collects requests until one is answered', async () => {
    const box = busy()
    box.add(4)
    box.endTick()
    expect(box.sent).toEqual([[1], [2]])
    await box.answer()
    box.add(5)
    expect(box.sent).toEqual([[1], [2]])
    box.endTick()
    expect(box.sent).toEqual([[1], [2], [3, 4, 5]])
    expect(box.timers).toEqual([])
  })

  it('a call that waits for others is sent after five milliseconds at most', async () => {
    const box = busy()
    expect(box.timers.map(({ ms }) => ms)).toEqual([5])
    box.timers[0]?.fire()
    expect(box.sent).toEqual([[1], [2], [3]])
    await box.answer()
    box.endTick()
    expect(box.sent).toHaveLength(3)
  })

  it('a full call is sent immediately', () => {
    const box = busy()
    box.add(...range(4, 35))
    expect(box.sent.at(-1)).toEqual(range(3, 35))
    expect(box.timers).toEqual([])
    box.endTick()
    expect(box.sent).toHaveLength(3)
  })

  it('flush() sends every waiting request', () => {
    const box = busy()
    box.add(4)
    box.endTick()
    expect(box.timers).toHaveLength(1)
    // As closing does.
    box.timers[0]?.fire()
    box.add(5)
    box.endTick()
    expect(box.timers).toHaveLength(1)
    expect(box.sent.flat()).toEqual([1, 2, 3, 4])
  })
})
