import assert from 'node:assert/strict'
import type { SettingsChange, SettingsStore, StoreWriteOptions, WriteReply } from '@scoregw/quota/store'
import { type SettingsCapability, type SettingsCase, type SettingsContext, settingsContextOf } from './harness.ts'
import { soon } from './watch-cases.ts'

export const FIRST = { mode: 'normal', limits: { hourly: 10 } }
export const SECOND = { mode: 'lenient', limits: { hourly: 20 } }
export const USER = ['personal', 'u'] as const

type Written = WriteReply & { readonly written: true }
type Play = (context: SettingsContext) => Promise<void>

/** Makes cases by name. Each needs the capability, and without it the second test is made instead. */
export function settingsCases(
  plays: Readonly<Record<string, Play>>,
  need?: SettingsCapability,
  without: Play = () => Promise.resolve(),
): readonly SettingsCase[] {
  return Object.entries(plays).map(([name, play]) => ({
    name: `settings: ${name}`,
    ...(need && { needs: [need] }),
    run(harness) {
      const canPlay = need === undefined || harness.capabilities.includes(need)
      return (canPlay ? play : without)(settingsContextOf(harness))
    },
  }))
}

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

/** Writes the document of {@link USER}, and asserts that it succeeds. */
export async function userWritten(
  store: SettingsStore,
  document: unknown,
  options: StoreWriteOptions = {},
): Promise<Written> {
  return checked(await store.writeSubject(...USER, document, options))
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
  assert.equal(await store.readSubject(...USER), undefined)
}

/** Whether a change may concern the settings. */
export function isAboutSettings({ kind }: SettingsChange): boolean {
  return kind !== 'subject'
}

/** Records the notifications of both processes. */
export class Notifications {
  readonly #lists: readonly SettingsChange[][] = [[], []]
  readonly #stops: readonly (() => void)[]

  constructor({ store, peer }: SettingsContext) {
    this.#stops = [store, peer].map((each, index) => each.watch((change) => this.#lists[index]?.push(change)))
  }

  /** Makes a change, and waits until both received it. */
  async both(what: string, is: (change: SettingsChange) => boolean, change: () => unknown): Promise<void> {
    for (const list of this.#lists) list.length = 0
    await change()
    await soon(what, () => this.#lists.every((list) => list.some(is)))
  }

  stop(): void {
    for (const stop of this.#stops) stop()
  }
}
