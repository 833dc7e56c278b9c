import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { Growth } from '../report.ts'
import { NAMES } from './heap.ts'

/** The effect of growing to so many users, each keeper in a separate process. */
export async function growths(users: number): Promise<Growth[]> {
  const found: Growth[] = []
  for (const keeper of ['quota', 'array'] as const) {
    const execArgv = [...process.execArgv, '--max-old-space-size=8192']
    const child = fork(new URL('../growth-process.ts', import.meta.url), [keeper, String(users)], { execArgv })
    const [growth] = (await once(child, 'message')) as [Omit<Growth, 'name'>]
    found.push({ name: NAMES[keeper], ...growth })
  }
  return found
}
