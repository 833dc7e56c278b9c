import express from 'express'
import express4 from 'express4'
import { lateQuota, type MadeQuota, syncQuota } from './engine.ts'

/** Express 4 seen through the types of Express 5, whose calls the tests use alone. */
const four = express4 as unknown as typeof express

/** Every kind of engine under every Express. */
export const MATRIX: readonly {
  readonly title: string
  readonly express: typeof express
  readonly engine: () => MadeQuota
}[] = [
  { title: 'Express 5, store that answers at once', express, engine: syncQuota },
  { title: 'Express 5, store that answers later', express, engine: () => lateQuota() },
  { title: 'Express 4, store that answers at once', express: four, engine: syncQuota },
  { title: 'Express 4, store that answers later', express: four, engine: () => lateQuota() },
]
