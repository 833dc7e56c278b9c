import type { Counting as AnyCounting, SyncQuota as NamedQuota } from '@scoregw/quota'
import type { Shapes } from './convert.ts'

type AnyRecord = Readonly<Record<string, unknown>>

/** Presents one part of an engine. */
export function settingsOf(quota: NamedQuota<string, AnyCounting>, shapes: Shapes): object {
  const written = (reply: { readonly settings: object; readonly warnings: unknown }): object => ({
    ...reply,
    settings: shapes.settings(reply.settings as never),
  })
  return {
    get: async () => shapes.settings((await quota.settings.get()) as never),
    faults: () => quota.settings.faults(),
    update: async (patch: AnyRecord, options: never) =>
      written(await quota.settings.update(shapes.patch(patch), options)),
    replace: async (document: AnyRecord, options: never) =>
      written(await quota.settings.replace(shapes.patch(document, true), options)),
  }
}

/** Presents one part of an engine. */
export function subjectsOf(quota: NamedQuota<string, AnyCounting>, shapes: Shapes): object {
  const own = shapes.policy.layers.filter(({ shared }) => !shared).map(({ name }) => name)
  const place = (key: string, { layer = own[0], ...options }: AnyRecord = {}) => ({
    key: (typeof key === 'string' ? { [String(layer)]: key } : key) as never,
    layer: String(layer),
    options: options as never,
  })
  return {
    async get(key: string, given?: AnyRecord) {
      return shapes.subject((await quota.subjects.get(place(key, given).key)) as never)
    },
    async set(key: string, settings: AnyRecord, given?: AnyRecord) {
      const { key: at, layer, options } = place(key, given)
      return shapes.subject((await quota.subjects.set(at, shapes.ofSubject(layer, settings), options)) as never)
    },
    async update(key: string, settings: AnyRecord, given?: AnyRecord) {
      const { key: at, layer, options } = place(key, given)
      return shapes.subject((await quota.subjects.update(at, shapes.ofSubject(layer, settings), options)) as never)
    },
    async remove(key: string, given?: AnyRecord) {
      const { key: at, options } = place(key, given)
      await quota.subjects.remove(at, options)
    },
  }
}

/** Presents one part of an engine. */
export function holdsOf(quota: NamedQuota<string, AnyCounting>, shapes: Shapes): object {
  const named = <T extends { readonly operation: string }>(hold: T): object => ({
    ...hold,
    category: shapes.categoryOf(hold.operation),
  })
  return {
    list: async (subject: never) => (await quota.holds.list(subject)).map(named),
    release: (subject: never, ref: string) => quota.holds.release(subject, ref),
    async sweep() {
      const { ended, ...rest } = await quota.holds.sweep()
      return { ...rest, ended: ended.map(named) }
    },
  }
}
