import assert from 'node:assert/strict'
import type { Answer, SettingsChange, SettingsStore, StoreWriteOptions, WriteReply } from '@scoregw/quota/store'

export const FIRST = { mode: 'normal', base: { personal: { read: { '1h': 10 } } } }
export const SECOND = { mode: 'lenient', base: { personal: { read: { '1h': 20 } } } }

type Written = WriteReply & { readonly written: true }

function checked(reply: WriteReply): Written {
  const { written: isWritten, version, revision } = reply
  assert.ok(isWritten, `the write did not happen: version ${version} is stored`)
  assert.ok(Number.isSafeInteger(version) && version > 0, `version ${version}`)
  assert.ok(typeof revision === 'string' && revision.length > 0, `revision "${revision}"`)
  return { written: true, version, revision }
}

/** A write that has to happen. */
export async function written(
  store: SettingsStore,
  document: unknown,
  options: StoreWriteOptions = {},
): Promise<Written> {
  return checked(await store.write(document, options))
}

/** A write of a subject's document that has to happen. */
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

/** Whether a listener that is notified of a change knows that it has to look at the settings. */
export function isAboutSettings({ kind }: SettingsChange): boolean {
  return kind !== 'subject'
}

/** Whether a listener that is notified of a change knows that it has to look at a subject. */
export function isAboutSubject(change: SettingsChange, layer: string, key: string): boolean {
  return change.kind === 'everything' || (change.kind === 'subject' && change.layer === layer && change.key === key)
}

/**
 * What a settings store, or the harness around it, can do beyond the port. Where one is not declared, the case requests
 * the plain thing instead.
 *
 * - `loss`: the harness can take everything that is stored away. Without: what was written stays.
 * - `backup`: the harness can put an older state back. Without: a read gives the newest write.
 * - `announcer`: documents and counters live apart, and revisions are announced to the counters. Without: there is
 *   nothing to announce again.
 */
export type SettingsCapability = 'loss' | 'backup' | 'announcer'

/** A new, empty settings store. */
export interface SettingsHarness {
  readonly store: SettingsStore
  /** The store as another process sees it: another client of the same data. Default: `store` itself. */
  readonly peer?: SettingsStore | undefined
  readonly capabilities: readonly SettingsCapability[]
  /** Takes away all that is stored, announcements included; there if `loss` is declared. */
  loseData?(): Answer<void>
  /** Remembers the stored state, to be put back; there if `backup` is declared. */
  backup?(): Answer<void>
  /** Puts back what was remembered; there if `backup` is declared. */
  restore?(): Answer<void>
  /** The next write of `store` is stored, and its process dies before it notifies; there if `announcer` is declared. */
  killAnnouncer?(): Answer<void>
  /** The revision that the counters know, `''`: none; there if `announcer` is declared. */
  announced?(): Answer<string>
  /** Ends what the factory started. */
  stop(): Answer<void>
}

/** Makes a new, empty settings store; called once for each case. */
export type SettingsFactory = () => Answer<SettingsHarness>

/** What a case is given: a harness in which everything is there. */
export type SettingsContext = Required<Omit<SettingsHarness, 'peer'>> & { readonly peer: SettingsStore }

interface AnySettingsCase {
  readonly name: string
  run(context: SettingsContext): Promise<void>
}

/** One thing that every settings store has to do. Fails by throwing an `AssertionError`. */
export type SettingsCase =
  | (AnySettingsCase & { readonly needs?: undefined })
  | (AnySettingsCase & {
      readonly needs: SettingsCapability
      /** What a store without the capability has to do instead. */
      without(context: SettingsContext): Promise<void>
    })

function missing(capability: SettingsCapability, method: string): () => never {
  return () => {
    throw new TypeError(`"${capability}" is declared, but there is no ${method}()`)
  }
}

/** Runs one case on a new store of the factory. */
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
