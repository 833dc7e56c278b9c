import type { Findings } from './report.ts'

/** Measures, and returns its findings. `quick` only checks that it runs, too short for meaningful figures. */
export type Suite = (quick: boolean) => Promise<Findings>

/** Every suite by its name on the command line. Suites are loaded on demand, since each has many dependencies. */
export const suites: Readonly<Record<string, () => Promise<Suite>>> = {
  fleet: async () => (await import('./fleet/suite.ts')).fleet,
  http: async () => (await import('./http/suite.ts')).http,
  instructions: async () => (await import('./instructions/suite.ts')).instructions,
  memory: async () => (await import('./memory/suite.ts')).memory,
  redis: async () => (await import('./redis/suite.ts')).redis,
  single: async () => (await import('./single/suite.ts')).single,
  sql: async () => (await import('./sql/suite.ts')).sql,
  waiting: async () => (await import('./waiting/suite.ts')).waiting,
}
