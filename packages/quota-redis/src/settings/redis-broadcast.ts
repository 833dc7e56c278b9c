import { newRevision, type SettingsChange } from '@scoregw/quota/store'
import { carryOut } from '../connection/carry-out.ts'
import { storeError } from '../connection/errors.ts'
import revision from '../lua/revision.lua'
import { scriptOf } from '../lua/script.ts'
import { keyOptionsParser } from '../store/key-options.ts'
import announce from './announce.lua'
import { ChangeFeed } from './change-feed.ts'
import type { RedisSettingsOptions } from './options.ts'
import { SettingsKeys } from './settings-keys.ts'

/** For a `SettingsStore` whose documents are kept elsewhere, for example in SQL: notifies the other processes. */
export interface RedisBroadcast {
  /**
   * To be called after a change was stored. When it rejects, the others have not heard yet; it is announced again, as
   * `everything`, when the connection is back.
   *
   * @param revision of the settings now in force, `''` where none are stored; the quota store decides under no others
   */
  announce(revision: string, change: SettingsChange): Promise<void>
  /**
   * The `reannounce` of a settings store: announces a revision that was read, if what the quota store knows is still what
   * it knew when it called the settings stale. So a counters' store that lost its data, or gets no announcement since
   * the process that changed the settings is gone, follows within a second.
   *
   * @param revision of the settings that were read
   * @param seen the revision that the quota store knew; `''`: none
   */
  reannounce(revision: string, seen: string): Promise<void>
  /** Calls `listener` within a second after changes announced by any process, until the returned function is called. */
  watch(listener: (change: SettingsChange) => void): () => void
  /** Closes the connections. */
  close(): void
}

const parseOptions = /* @__PURE__ */ keyOptionsParser('redisBroadcast()')

const ANNOUNCE = scriptOf(announce, { '../lua/revision': revision })

/** As many characters as the decision script compares. */
const REVISION = /^[\w-]{0,22}$/

/** @throws {QuotaError} `invalid_options` naming every fault */
export function redisBroadcast(options: RedisSettingsOptions): RedisBroadcast {
  const { client, prefix } = parseOptions(options)
  const keys = new SettingsKeys(prefix)
  /** The revision whose announcement failed last. */
  let unheard: string | undefined

  const feed = new ChangeFeed(client, keys.changes, () => {
    // What fails again is kept again. Were it old by now, those who know better announce theirs over it.
    if (unheard !== undefined) void announceNow(unheard, { kind: 'everything' }).catch(() => undefined)
  })

  async function send(expected: readonly [string, string], now: string, change: SettingsChange): Promise<void> {
    if (!REVISION.test(now)) throw storeError('a revision must be text from newRevision()')
    const words = [...expected, now, newRevision(), JSON.stringify(change)]
    await carryOut(feed.commands, (connection) =>
      connection.send('EVAL', ANNOUNCE.text, 2, keys.settings, keys.changes, ...words),
    )
  }

  async function announceNow(now: string, change: SettingsChange): Promise<void> {
    unheard = undefined
    try {
      await send(['', ''], now, change)
    } catch (error) {
      unheard ??= now
      throw error
    }
  }

  return {
    announce: announceNow,
    reannounce: (now, seen) => send(['1', seen], now, { kind: 'everything' }),
    watch: (listener) => feed.watch(listener),
    close: () => feed.close(),
  }
}
