import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { manualClock } from '@scoregw/quota-testkit'
import { type Answers, goOn, type HoldTokens } from './history.ts'
import { KINDS, type Kind } from './kinds.ts'
import type { Place, PolicyName } from './places/place.ts'
import { POLICIES } from './policies.ts'

/** Folders of data, one per version, named by the commit that wrote it. */
export const DATA: string = join(import.meta.dirname, '..', 'data')

/** The data of one kind of store after the history, and the answers of the version that wrote it. */
export interface Kept {
  /** The history's clock at the end, epoch milliseconds. */
  readonly at: number
  readonly tokens: Readonly<Record<PolicyName, HoldTokens>>
  readonly stored: unknown
  readonly answers: Readonly<Record<PolicyName, Answers>>
}

/** The versions that wrote data. */
export function versions(): readonly string[] {
  return readdirSync(DATA).sort()
}

export function readKept(version: string, kind: Kind): Kept {
  return JSON.parse(readFileSync(join(DATA, version, `${kind}.json`), 'utf8')) as Kept
}

export const POLICY_NAMES: readonly PolicyName[] = Object.keys(POLICIES) as PolicyName[]

/** Starts this version's stores on kept data, and returns their answers. */
export async function answersOn(kind: Kind, { at, tokens, stored }: Omit<Kept, 'answers'>): Promise<Kept['answers']> {
  const place: Place = await KINDS[kind]()
  try {
    await place.load(stored)
    const answers: Partial<Record<PolicyName, Answers>> = {}
    for (const name of POLICY_NAMES) {
      answers[name] = await goOn(await place.open(name, manualClock(at), 'later'), tokens[name])
    }
    return answers as Kept['answers']
  } finally {
    await place.close()
  }
}
