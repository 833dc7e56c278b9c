import type { QuotaNamespace } from '../../src/index.ts'

export interface Env {
  readonly QUOTA: QuotaNamespace
  readonly SETTINGS: QuotaNamespace
}

/** An object by its name: what its methods return comes later. */
export type Remote<T> = {
  [K in keyof T]: T[K] extends (...values: infer A) => infer R ? (...values: A) => Promise<Awaited<R>> : never
}

export function named<T>(namespace: QuotaNamespace, name: string): Remote<T> {
  return namespace.get(namespace.idFromName(name) as never) as Remote<T>
}
