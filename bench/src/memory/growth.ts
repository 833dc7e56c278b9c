import { resultFrom } from '../child.ts'
import type { Growth } from '../report.ts'
import { NAMES } from './heap.ts'

/** The effect of growing to so many users, each keeper in a separate process. */
export async function growths(users: number): Promise<Growth[]> {
  const found: Growth[] = []
  for (const keeper of ['quota', 'array'] as const) {
    const flags = ['--max-old-space-size=8192']
    const growth = await resultFrom<Omit<Growth, 'name'>>('growth-process.ts', [keeper, String(users)], flags)
    found.push({ name: NAMES[keeper], ...growth })
  }
  return found
}
