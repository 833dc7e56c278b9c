import assert from 'node:assert/strict'
import type { Answer, SettingsChange, SettingsStore, StoreWriteOptions, WriteReply } from '@scoregw/quota/store'
import { missing } from './harness.ts'
import { soon } from './port-harness.ts'

export const FIRST = { mode: 'normal', limits: { hourly: 10 } }
export const SECOND = { mode: 'lenient', limits: { hourly: 20 } }

type Written = WriteReply & { readonly written: true }

function checked(reply: WriteReply): Written {
  const { written: isWritten, version, revision } = reply
  assert.ok(isWritten, `the write did not happen: version ${version} is stored`)
  assert.ok(Number.isSafeInteger(version) && version > 0, `version ${version}`)
  assert.ok(typeof revision === 'string' && revision.length > 0, `revision "${revision}"`)
  return { written: true, version, revision }
}

/** Writes the settings, and asserts that it succeeds. */
export async function written(
  store: SettingsStore,
  document: unknown,
  options: StoreWriteOptions = {},
): Promise<Written> {
  return checked(await store.write(document, options))
}

/** Writes a subject's document, and asserts that it succeeds. */
export async function subjectWritten(
  store: SettingsStore,
  [layer, key]: readonly [layer: string, key: string],
  document: unknown,
  options: StoreWriteOptions = {},
): Promise<Written> {
  return checked(await store.writeSubject(layer, key, document, options))
}

export async function isStored(
  store: SettingsStore,
  document: unknown,
  reply: Pick<WriteReply, 'version' | 'revision'> | undefined,
): Promise<void> {
  assert.deepEqual({ ...(await store.read()) }, { document, version: reply?.version, revision: reply?.revision })
}

export async function nothingIsStored(store: SettingsStore): Promise<void> {
  assert.equal(await store.read(), undefined)
  assert.equal(await store.readSubject('personal', 'u'), undefined)
}

/** Whether a change may concern the settings. */
export function isAboutSettings({ kind }: SettingsChange): boolean {
  return kind !== 'subject'
}

/** Whether a change may concern a subject. */
export function isAboutSubject(change: SettingsChange, layer: string, key: string): boolean {
  return change.kind === 'everything' || (change.kind === 'subject' && change.layer === layer && change.key === key)
}

/** Records the notifications of both processes. */
export class Notifications {
  readonly #lists: readonly SettingsChange[][] = [[], []]
  readonly #stops: readonly (() => void)[]

  constructor({ store, peer }: Pick<SettingsContext, 'store' | 'peer'>) {
    this.#stops = [store, peer].map((each, index) => each.watch((change) => this.#lists[index]?.push(change)))
  }

  clear(): void {
    for (const list of this.#lists) list.length = 0
  }

  /** Waits until both received such a change. */
  bothReceive(what: string, is: (change: SettingsChange) => boolean): Promise<void> {
    return soon(what, () => this.#lists.every((list) => list.some(is)))
  }

  stop(): void {
    for (const stop of this.#stops) stop()
  }
}

/**
 * Optional abilities of a settings store, or of its harness. Without one, the suite checks the behaviour named here.
 *
 * - `loss`: the harness can delete everything that is stored. Without: writes stay.
 * - `backup`: the harness can restore an older state. Without: a read returns the newest write.
 * - `announcer`: documents and counters are stored separately, and revisions are announced to the counters. Without:
 *   nothing has to be announced again.
 */
export type SettingsCapability = 'loss' | 'backup' | 'announcer'

/** A new, empty settings store. */
export interface SettingsHarness {
  readonly store: SettingsStore
  /** The store as another process sees it, through another client of the same data. Default: `store` itself */
  readonly peer?: SettingsStore | undefined
  readonly capabilities: readonly SettingsCapability[]
  /** Deletes everything that is stored, including announcements. Required for `loss`. */
  loseData?(): Answer<void>
  /** Takes a backup. Required for `backup`. */
  backup?(): Answer<void>
  /** Restores the backup. Required for `backup`. */
  restore?(): Answer<void>
  /**
   * The next write of `store` is stored, but its process crashes before it notifies others. Required for `announcer`.
   */
  killAnnouncer?(): Answer<void>
  /** Returns the revision that the counters know; `''`: none. Required for `announcer`. */
  announced?(): Answer<string>
  /** Closes what the factory opened. */
  stop(): Answer<void>
}

/** Makes a new, empty settings store. Called once per case. */
export type SettingsFactory = () => Answer<SettingsHarness>

/** The harness of a case, with all optional members present. */
export type SettingsContext = Required<Omit<SettingsHarness, 'peer'>> & { readonly peer: SettingsStore }

interface AnySettingsCase {
  readonly name: string
  run(context: SettingsContext): Promise<void>
}

/** A case that every settings store must pass. It throws an `AssertionError` on failure. */
export type SettingsCase =
  | (AnySettingsCase & { readonly needs?: undefined })
  | (AnySettingsCase & {
      readonly needs: SettingsCapability
      /** The test if the capability is missing. */
      without(context: SettingsContext): Promise<void>
    })

/** Runs one case on a new store. */
export async function runSettingsCase(testCase: SettingsCase, factory: SettingsFactory): Promise<void> {
  const harness = await factory()
  const context: SettingsContext = {
    store: harness.store,
    peer: harness.peer ?? harness.store,
    capabilities: harness.capabilities,
    loseData: harness.loseData?.bind(harness) ?? missing('loss', 'loseData'),
    backup: harness.backup?.bind(harness) ?? missing('backup', 'backup'),
    restore: harness.restore?.bind(harness) ?? missing('backup', 'restore'),
    killAnnouncer: harness.killAnnouncer?.bind(harness) ?? missing('announcer', 'killAnnouncer'),
    announced: harness.announced?.bind(harness) ?? missing('announcer', 'announced'),
    stop: () => harness.stop(),
  }
  try {
    if (testCase.needs === undefined || harness.capabilities.includes(testCase.needs)) await testCase.run(context)
    else await testCase.without(context)
  } finally {
    await harness.stop()
  }
}
