/// <reference path="../lua.d.ts" />
import type { SettingsChange } from '@scoregw/quota'
import { carryOut } from '../client/carry-out.ts'
import { parseOptions } from '../client/options.ts'
import announce from './announce.lua'
import { ChangeFeed } from './change-feed.ts'
import { type RedisSettingsOptions, settingsOptions } from './options.ts'
import { SettingsKeys } from './settings-keys.ts'

/** For a `SettingsStore` whose documents are kept elsewhere, for example in SQL: tells the other processes. */
export interface RedisBroadcast {
  /**
   * To be called after a change was stored. When it rejects, the others have not heard yet; it is announced again, as
   * `everything`, when the connection is back.
   *
   * @param version of the settings now in force; the quota store refuses to decide under older ones. A version lower
   *   than one announced before is taken for a message that was overtaken, unless the change is `everything`, which is
   *   how to announce the version of a database that was restored from a backup.
   */
  announce(version: number, change: SettingsChange): Promise<void>
  /** Calls `listener` within a second after changes announced by any process, until the returned function is called. */
  watch(listener: (change: SettingsChange) => void): () => void
  /** Closes the connections. */
  close(): void
}

/** @throws {QuotaError} `invalid_options` naming every fault */
export function redisBroadcast(options: RedisSettingsOptions): RedisBroadcast {
  const { client, prefix } = parseOptions('redisBroadcast()', settingsOptions, options)
  const keys = new SettingsKeys(prefix)
  /** The highest version whose announcement failed. */
  let unheard: number | undefined

  const feed = new ChangeFeed(client, keys.changes, () => {
    if (unheard === undefined) return
    const version = unheard
    unheard = undefined
    // What fails again is kept again.
    send(version, false, { kind: 'everything' }).catch(() => undefined)
  })

  async function send(version: number, force: boolean, change: SettingsChange): Promise<void> {
    try {
      const words = [String(version), force ? '1' : '', JSON.stringify(change)]
      await carryOut(feed.commands, (redis) => redis.eval(announce, 2, keys.settings.version, keys.changes, ...words))
    } catch (error) {
      unheard = Math.max(unheard ?? 0, version)
      throw error
    }
  }

  return {
    announce: (version, change) => send(version, change.kind === 'everything', change),
    watch: (listener) => feed.watch(listener),
    close: () => feed.close(),
  }
}
