import { MAX_LIMIT } from '@scoregw/quota/store'
import { startCluster } from '@scoregw/redis-server'
import { type Decider, named, ratesOf } from '../deciders/decider.ts'
import { engine } from '../memory/ours.ts'
import { description, names as USERS } from '../memory/users.ts'
import { atLeast, atMost, type Findings, type Rate, resultOf } from '../report.ts'
import type { RoundOptions } from '../rounds.ts'
import { deciders, LEASED, LOCAL, leased, local, type Seeds } from './deciders.ts'

const CALLERS = [64, 512]
const MEMORY = 'quota: memoryStore'
/** How many stores, as in separate processes, share a site and its tokens until it refuses. */
const SHARERS = 4
const SITE_LIMIT = 1_500_000

/** Why goals are missed. */
const BECAUSE = {
  few: 'callers are spread over twelve slots, so that 64 of them are five a call; with three slots they are more a call, and no more than three primaries would be used',
  share: 'the first who is refused cannot see what others have leased and not spent yet',
} as const

/** Decisions on a cluster of six servers with a leased site, compared with scripts on one key per user. */
export async function cluster(quick: boolean): Promise<Findings> {
  console.log(`cluster: six counters a decision, ${description}, three primaries with a replica each, on this machine`)
  const servers = await startCluster()
  const all = deciders(servers.seeds)
  const alone = local(servers.seeds)
  try {
    const options = quick ? { rounds: 1, roundMs: 50, warmUpMs: 50 } : { rounds: 11, roundMs: 400, warmUpMs: 1_000 }
    const results = [...(await ratesOf(all, CALLERS, options)), ...(await localRates(alone, options))]
    const { grants = 0, localDecisions = 0 } = all.find(({ name }) => name === LEASED)?.store?.leases() ?? {}
    const share = await shareAtFirstDenial(servers.seeds, quick ? SITE_LIMIT / 10 : SITE_LIMIT)
    const targets = [
      atLeast('64 callers, of a script on one key', 1, resultOf(results, named(LEASED, 64)).ratio, BECAUSE.few),
      atLeast('512 callers, of a script on one key', 1, resultOf(results, named(LEASED, 512)).ratio),
      atLeast("a decision on a lease, of memory's await consume", 0.5, resultOf(results, named(LOCAL, 64)).ratio),
      atMost('grants a decision', 0.05, grants / (grants + localDecisions)),
      atLeast('share of the limit used at the first refusal', 0.999, share, BECAUSE.share),
    ]
    return { results, targets }
  } finally {
    for (const decider of [...all, alone]) await decider.stop()
    await servers.stop()
  }
}

/** Compares leases with the embedded store, the only other one that decides without a server. */
function localRates(alone: Decider, options: RoundOptions): Promise<Rate[]> {
  const quota = engine(MAX_LIMIT)
  const memory: Decider = {
    name: MEMORY,
    admit: async (subject) => (await quota.consume({ subject, operation: 'music.upsert' })).allowed,
    stop: () => quota.close(),
  }
  return ratesOf([memory, alone], [64], options)
}

/**
 * The used share of a limit that several stores, as in separate processes, share, when one of them is first refused.
 */
async function shareAtFirstDenial(seeds: Seeds, limit: number): Promise<number> {
  const sharers = Array.from({ length: SHARERS }, () => leased(seeds, `share-${limit}`, limit))
  let admitted = 0
  let denied = false
  const call = async ({ admit }: Decider, index: number): Promise<void> => {
    for (let i = index; !denied; i++) {
      if (await admit(USERS[i % USERS.length] as string)) admitted += denied ? 0 : 1
      else denied = true
    }
  }
  try {
    await Promise.all(sharers.flatMap((sharer) => Array.from({ length: 16 }, (_, index) => call(sharer, index * 97))))
    return (admitted * 15) / limit
  } finally {
    for (const sharer of sharers) await sharer.stop()
  }
}
