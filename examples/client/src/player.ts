import type { Client } from 'openapi-fetch'
import type { components, paths } from './generated/sync.ts'
import { dataOf } from './refused.ts'

/** Totals of a player's stored scores. */
export type Player = components['schemas']['SummarizePlayerAnswer']
/** How a rating went. */
export type Trend = components['schemas']['ReadTrendAnswer']

export async function readPlayer(
  sync: Client<paths>,
  qq: string,
): Promise<{ readonly player: Player; readonly trend: Trend }> {
  const path = { qq }
  return {
    player: dataOf(await sync.GET('/api/bot/player/{qq}/summary', { params: { path } })),
    trend: dataOf(await sync.GET('/api/bot/player/{qq}/trend', { params: { path, query: { days: 30 } } })),
  }
}

/** A player on a few lines, with a line for each day that changed something. */
export function playerText({ qq, nickname, rating, record_count }: Player, { points, summary }: Trend): string[] {
  const days = points.map(
    ({ date, rating: then, delta }) => `${date}  ${then ?? '?'}  ${delta < 0 ? delta : `+${delta}`}`,
  )
  const change = summary.rating_delta
  return [
    `${nickname ?? qq}: ${rating ?? 'no rating'}, ${record_count} records`,
    ...days,
    `${change < 0 ? change : `+${change}`} in 30 days`,
  ]
}
