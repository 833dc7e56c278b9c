// Writes the data of this version's stores: npm run kept-data -- VERSION, in a clean checkout of that version.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { manualClock } from '@scoregw/quota-testkit'
import { BEGIN, type HoldTokens, play } from './history.ts'
import { answersOn, DATA, type Kept, POLICY_NAMES } from './kept.ts'
import { KINDS, type Kind } from './kinds.ts'
import type { PolicyName } from './places/place.ts'

const [version] = process.argv.slice(2)
if (version === undefined || !/^[\w.-]+$/.test(version)) {
  throw new Error('name the version that writes: a tag, or the first characters of a commit')
}
const folder = join(DATA, version)
mkdirSync(folder, { recursive: true })
for (const kind of Object.keys(KINDS) as Kind[]) {
  const written = await write(kind)
  const kept: Kept = { ...written, answers: await answersOn(kind, written) }
  writeFileSync(join(folder, `${kind}.json`), `${JSON.stringify(kept, null, 1)}\n`)
  console.log(`${kind}: written`)
}

async function write(kind: Kind): Promise<Omit<Kept, 'answers'>> {
  const place = await KINDS[kind]()
  try {
    const tokens: Partial<Record<PolicyName, HoldTokens>> = {}
    let at = BEGIN
    for (const name of POLICY_NAMES) {
      const clock = manualClock(BEGIN)
      tokens[name] = await play(await place.open(name, clock, 'first'))
      at = clock.now()
    }
    // Before the stores are closed, as after a kill: leases are still open.
    return { at, tokens: tokens as Kept['tokens'], stored: await place.dump() }
  } finally {
    await place.close()
  }
}
