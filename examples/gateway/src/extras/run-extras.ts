import * as z from 'zod'
import { type Route, route } from '../http/route.ts'
import { ConfigError } from '../start/config-error.ts'
import type { Extra, ExtraParts, RunningExtra } from './extra.ts'
import * as list from './index.ts'

/** All of them, sorted by name: not every loader sorts a module's exports. */
const ALL: Readonly<Record<string, Extra>> = Object.fromEntries(
  Object.entries(list).sort(([one], [other]) => (one < other ? -1 : 1)),
)

/** The extras that a gateway runs. */
export interface RunningExtras {
  readonly all: readonly RunningExtra[]
  /** The list of their names, for the console. */
  readonly routes: readonly Route[]
}

/** @throws {ConfigError} for names that are unknown */
export async function runExtras(chosen: 'all' | readonly string[], parts: ExtraParts): Promise<RunningExtras> {
  const names = namesOf(chosen)
  const all: RunningExtra[] = []
  for (const name of names) all.push(await (ALL[name] as Extra).begin(parts, [...all]))
  return { all, routes: [listRoute(names), ...all.flatMap(({ routes = [] }) => routes)] }
}

function namesOf(chosen: 'all' | readonly string[]): readonly string[] {
  const known = Object.keys(ALL)
  if (chosen === 'all') return known
  const unknown = chosen.filter((name) => !known.includes(name))
  if (unknown.length > 0) {
    const which = unknown.map((name) => JSON.stringify(name)).join(', ')
    throw new ConfigError([`EXTRAS: unknown: ${which}; expected all, none, or some of ${known.join(', ')}`])
  }
  return known.filter((name) => chosen.includes(name))
}

function listRoute(names: readonly string[]): Route {
  return route({
    method: 'get',
    path: '/admin/extras',
    docs: {
      id: 'listExtras',
      tag: 'Administration',
      summary: 'The extras that this gateway runs',
      description: 'Names of the parts beyond the specification, as `EXTRAS` takes them.',
    },
    access: 'admin',
    answer: z.object({ extras: z.array(z.string()) }),
    handle: () => ({ body: { extras: [...names] } }),
  })
}
