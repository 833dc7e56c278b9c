import type { Findings } from './report.ts'

/**
 * Measures, and prints what it measures. `quick`: only whether it runs, too short for figures that say anything. `full`:
 * with as much stored as the suite knows of, which may take many minutes.
 */
export type Suite = (quick: boolean, full: boolean) => Promise<Findings>

/** Every suite by its name on the command line. Loaded when it is to run: each brings much with it. */
export const suites: Readonly<Record<string, () => Promise<Suite>>> = {
  cluster: async () => (await import('./cluster/suite.ts')).cluster,
  gateway: async () => (await import('./gateway/suite.ts')).gateway,
  hostile: async () => (await import('./hostile/suite.ts')).hostile,
  http: async () => (await import('./http/suite.ts')).http,
  instructions: async () => (await import('./instructions/suite.ts')).instructions,
  memory: async () => (await import('./memory/suite.ts')).memory,
  redis: async () => (await import('./redis/suite.ts')).redis,
  scale: async () => (await import('./scale/suite.ts')).scale,
  simulate: async () => (await import('./simulate/suite.ts')).simulate,
  single: async () => (await import('./single/suite.ts')).single,
  sql: async () => (await import('./sql/suite.ts')).sql,
  sync: async () => (await import('./sync/suite.ts')).sync,
  waiting: async () => (await import('./waiting/suite.ts')).waiting,
}
