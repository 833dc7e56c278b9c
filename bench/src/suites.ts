import type { Findings } from './report.ts'

/**
 * Measures, and returns its findings. `quick` only checks that it runs, too short for meaningful figures. `full` stores
 * as much as the suite supports, which may take many minutes.
 */
export type Suite = (quick: boolean, full: boolean) => Promise<Findings>

/** Every suite by its name on the command line. Suites are loaded on demand, since each has many dependencies. */
export const suites: Readonly<Record<string, () => Promise<Suite>>> = {
  fleet: async () => (await import('./fleet/suite.ts')).fleet,
  hostile: async () => (await import('./hostile/suite.ts')).hostile,
  http: async () => (await import('./http/suite.ts')).http,
  instructions: async () => (await import('./instructions/suite.ts')).instructions,
  memory: async () => (await import('./memory/suite.ts')).memory,
  redis: async () => (await import('./redis/suite.ts')).redis,
  single: async () => (await import('./single/suite.ts')).single,
  sql: async () => (await import('./sql/suite.ts')).sql,
  waiting: async () => (await import('./waiting/suite.ts')).waiting,
}
