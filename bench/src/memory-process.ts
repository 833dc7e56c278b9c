// One process of the memory suite: `memory-process.ts ROUNDS ROUND_MS WARM_UP_MS`, the rates go to the parent.

import { floods, ours } from './memory/ours.ts'
import { floor, peers } from './memory/peers.ts'
import { interleave } from './rounds.ts'

const [rounds, roundMs, warmUpMs] = process.argv.slice(2).map(Number) as [number, number, number]
const contestants = [floor(), ...ours(), ...peers(), ...floods()]
process.send?.(await interleave(contestants, { rounds, roundMs, warmUpMs, collectsGarbage: false }))
process.disconnect()
