// One process of the memory suite: `memory-process.ts ROUNDS ROUND_MS WARM_UP_MS [TRAFFIC]`. It reports the rates to the
// parent. With the name of ordinary traffic, it only measures that and the floor, so that no other code influences the
// compiler.

import { ordinary } from './memory/ordinary.ts'
import { floods, ours } from './memory/ours.ts'
import { floor, peers } from './memory/peers.ts'
import { resultOf } from './report.ts'
import { interleave } from './rounds.ts'
import { ORDINARY } from './traffic/ordinary.ts'

const [rounds, roundMs, warmUpMs] = process.argv.slice(2, 5).map(Number) as [number, number, number]
const name = process.argv[5]
const contestants =
  name === undefined
    ? [floor(), ...ours(), ...(await peers()), ...floods()]
    : [floor(), await ordinary(resultOf(ORDINARY, name))]
process.send?.(await interleave(contestants, { rounds, roundMs, warmUpMs, collectsGarbage: false }))
process.disconnect()
