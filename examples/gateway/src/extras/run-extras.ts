import * as z from 'zod'
import { type Route, route } from '../http/route.ts'
import type { Extra, ExtraDeps, RunningExtra } from './extra.ts'
import * as list from './index.ts'

/** All extras by name. Sorted, because not every loader sorts a module's exports. */
const ALL: Readonly<Record<string, Extra>> = Object.fromEntries(
  Object.entries(list).sort(([one], [other]) => (one < other ? -1 : 1)),
)

/** The running extras of a gateway. */
export interface RunningExtras {
  readonly all: readonly RunningExtra[]
  /** A route with their names, for the console. */
  readonly routes: readonly Route[]
}

/** The valid names in EXTRAS. */
export const EXTRA_NAMES: readonly string[] = Object.keys(ALL)

export async function runExtras(chosen: 'all' | readonly string[], deps: ExtraDeps): Promise<RunningExtras> {
  const names = EXTRA_NAMES.filter((name) => chosen === 'all' || chosen.includes(name))
  const all: RunningExtra[] = []
  for (const name of names) all.push(await (ALL[name] as Extra).begin(deps, [...all]))
  return { all, routes: [listRoute(names), ...all.flatMap(({ routes = [] }) => routes)] }
}

function listRoute(names: readonly string[]): Route {
  return route({
    method: 'get',
    path: '/admin/extras',
    docs: {
      id: 'listExtras',
      tag: 'Administration',
      summary: 'The extras that this gateway runs',
      description: 'The names of features beyond the specification, as in `EXTRAS`.',
    },
    access: 'admin',
    answer: z.object({ extras: z.array(z.string()) }),
    handle: () => ({ body: { extras: [...names] } }),
  })
}
