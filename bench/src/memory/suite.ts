import { atLeast, atMost, type Findings, resultOf } from '../report.ts'
import { interleave } from '../rounds.ts'
import { heapUses } from './heap.ts'
import { ours } from './ours.ts'
import { floor, peers } from './peers.ts'
import { description } from './users.ts'

/** Decisions in memory, six counters each, and the bytes that a user costs. */
export async function memory(quick: boolean): Promise<Findings> {
  console.log(`memory: six counters a decision, ${description}, one process`)
  const options = quick ? { rounds: 3, roundMs: 2, warmUpMs: 5 } : { rounds: 41, roundMs: 60, warmUpMs: 400 }
  const results = await interleave([floor(), ...ours(), ...peers()], options)
  const heap = await heapUses(quick ? 2_000 : 300_000)
  const sync = resultOf(results, 'quota: consumeSync')
  const awaited = resultOf(results, 'quota: await consume')
  const flexible = resultOf(results, 'rate-limiter-flexible: one limit')
  const kept = resultOf(heap, 'quota: memoryStore, one category')
  const targets = [
    atLeast('consumeSync, of the floor', 0.7, sync.ratio),
    atLeast('await consume, of one limit of rate-limiter-flexible', 1, awaited.ratio / flexible.ratio),
    atMost('bytes per user beside the key', 160, kept.besideKeyBytes),
  ]
  return { results, heap, targets }
}
