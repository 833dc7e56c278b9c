import assert from 'node:assert/strict'
import type { SettingsChange, SettingsStore, StoreWriteOptions, WriteReply } from '@scoregw/quota/store'

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

/** Whether a listener that hears of a change knows that it has to look at the settings. */
export function isAboutSettings({ kind }: SettingsChange): boolean {
  return kind !== 'subject'
}

/** Whether a listener that hears of a change knows that it has to look at a subject. */
export function isAboutSubject(change: SettingsChange, layer: string, key: string): boolean {
  return change.kind === 'everything' || (change.kind === 'subject' && change.layer === layer && change.key === key)
}
