import type { Kysely } from 'kysely'

const TEXTS = ['artist', 'charter', 'difficulty'] as const
const NUMBERS = ['constant_tenths', 'taps', 'holds', 'slides', 'touches', 'breaks'] as const

/** Facts of a chart in the chart preview, apart from its title. */
export async function chartFacts({ schema }: Kysely<unknown>): Promise<void> {
  for (const name of TEXTS) await schema.alterTable('charts').addColumn(name, 'text').execute()
  for (const name of NUMBERS) await schema.alterTable('charts').addColumn(name, 'integer').execute()
}
