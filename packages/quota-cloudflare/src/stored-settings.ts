/// <reference path="./workers-runtime.d.ts" />
import type { DurableObjectStorage } from 'cloudflare:workers'
import { newRevision, type StoreWriteOptions, type WriteReply } from '@scoregw/quota/store'

/** Identifies a document: a layer and a subject's key as JSON. Both are empty for everyone's settings. */
export interface Place {
  readonly layer: string
  readonly subject: string
}

/** A document on its way to a Worker. It is JSON text, because not every key survives as a member of an object. */
export interface StoredText {
  readonly text: string
  readonly version: number
  readonly revision: string
}

/** A write on its way to an object. `text: null` removes the document. */
export interface WriteCall extends Place, StoreWriteOptions {
  readonly text: string | null
}

interface Row {
  readonly version: number
  readonly revision: string
  readonly document: string | null
}

const NOTHING = { version: 0, revision: '' } as const

/** Settings in an object's tables, with a log of changes. */
export class StoredSettings {
  readonly #storage: DurableObjectStorage
  readonly #now: () => number
  #mark: string | undefined

  constructor(storage: DurableObjectStorage, now: () => number) {
    this.#storage = storage
    this.#now = now
  }

  /** Returns a text that differs after every change of settings. It is cached, because only this class writes them. */
  mark(): string {
    if (this.#mark === undefined) {
      const [row] = this.#rows('select seq, revision from quota_changes order by seq desc limit 1')
      this.#mark = row === undefined ? '' : `${String(row.seq)}.${String(row.revision)}`
    }
    return this.#mark
  }

  readText(place: Place): StoredText | undefined {
    const row = this.#row(place)
    if (row === undefined || row.document === null) return undefined
    return { text: row.document, version: row.version, revision: row.revision }
  }

  write(call: WriteCall): WriteReply {
    const { layer, subject, text, ifRevision, by } = call
    return this.#storage.transactionSync(() => {
      const { version, revision } = this.readText(call) ?? NOTHING
      if (ifRevision !== undefined && ifRevision !== revision) return { written: false, version, revision }
      const before = this.#row(call)
      const row: Row = { version: (before?.version ?? 0) + 1, revision: newRevision(), document: text }
      this.#rows('insert or replace into quota_settings values (?, ?, ?, ?, ?)', layer, subject, ...Object.values(row))
      this.#rows(
        'insert into quota_changes select coalesce(max(seq), 0) + 1, ?, ?, ?, ?, ?, ?, ? from quota_changes',
        ...[layer, subject, row.revision, by ?? null, this.#now(), before?.document ?? null, text],
      )
      this.#mark = undefined
      return { written: true, ...(text === null ? NOTHING : { version: row.version, revision: row.revision }) }
    })
  }

  #row({ layer, subject }: Place): Row | undefined {
    const text = 'select version, revision, document from quota_settings where layer = ? and subject = ?'
    return this.#rows(text, layer, subject)[0] as Row | undefined
  }

  #rows(text: string, ...values: readonly unknown[]): readonly Record<string, unknown>[] {
    return this.#storage.sql.exec(text, ...values).toArray()
  }
}
