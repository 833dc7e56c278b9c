import { newRevision, type SettingsChange } from '@scoregw/quota/store'
import { carryOut } from '../connection/connection.ts'
import { storeError } from '../connection/errors.ts'
import publish from '../lua/publish.lua'
import revision from '../lua/revision.lua'
import { scriptOf } from '../lua/script.ts'
import { type RedisSettingsOptions, settingsOptionsParser } from '../store/options.ts'
import announce from './announce.lua'
import { ChangeFeed } from './change-feed.ts'
import { SettingsKeys } from './keyed-settings.ts'

/** For a `SettingsStore` with its documents elsewhere, for example in SQL: notifies other processes of changes. */
export interface RedisBroadcast {
  /**
   * Call it after a change was stored. If it rejects, other processes were not notified; it is announced again, as
   * `everything`, when the connection is back.
   *
   * @param revision of the settings in force, `''` if none are stored; the quota store decides under this revision only
   */
  announce(revision: string, change: SettingsChange): Promise<void>
  /**
   * The `reannounce` of a settings store. It announces a revision that was read, if the quota store still knows the
   * revision with which it called the settings stale. A store that lost its data, or whose announcing process died,
   * then follows within a second.
   *
   * @param revision of the settings that were read
   * @param seen the revision that the quota store knew; `''`: none
   */
  reannounce(revision: string, seen: string): Promise<void>
  /** Calls `listener` within a second after a change announced by any process, until you call the returned function. */
  watch(listener: (change: SettingsChange) => void): () => void
  /** Closes the connections. */
  close(): void
}

const parseOptions = /* @__PURE__ */ settingsOptionsParser('redisBroadcast()')

const ANNOUNCE = scriptOf(announce, { '../lua/revision': revision, '../lua/publish': publish })

/** At most as long as what the decision script compares. */
const REVISION = /^[\w-]{0,22}$/

/** @throws {QuotaError} `invalid_options` naming every fault */
export function redisBroadcast(options: RedisSettingsOptions): RedisBroadcast {
  const { client, prefix, logger } = parseOptions(options)
  const keys = new SettingsKeys(prefix)
  /** The revision whose announcement last failed. */
  let unheard: string | undefined

  const feed = new ChangeFeed(client, keys.changes, logger, () => {
    // If it fails again, it is kept again. If it is outdated by now, other processes announce newer revisions over it.
    if (unheard !== undefined) void announceNow(unheard, { kind: 'everything' }).catch(() => undefined)
  })

  async function send(expected: readonly [string, string], now: string, change: SettingsChange): Promise<void> {
    if (!REVISION.test(now)) throw storeError('a revision must be text from newRevision()')
    const words = [...expected, now, newRevision(), JSON.stringify(change)]
    const unpublished = await carryOut(feed.commands, (connection) =>
      connection.send('EVAL', ANNOUNCE.text, 2, keys.settings, keys.changes, ...words),
    )
    if (unpublished) feed.rights.areMissing(String(unpublished))
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
