/** The text of `--help`. */
export const USAGE = `A client of the score gateway and of the two services beside it.

Usage: npx tsx examples/client/src/main.ts COMMAND

  scores                     lists your scores
  upload FILE [--at-once]    writes the scores of a JSON file, 20 a request; at once: all of them, or none
  history                    lists your last requests, and what today's came to
  sync QQ FILE               brings a player's scores to score sync, as one snapshot in chunks
  player QQ                  shows the stored scores of a player there, and how the rating developed
  chart KEY                  shows a chart, for example 101:standard:4

Options
  --chunk-size N             records a chunk of a snapshot, 1 to 10000; 1000 if it is left out
  --help                     shows this

Where the services are, and the credential of each, come from the environment:

  GATEWAY_URL   http://127.0.0.1:8080   GATEWAY_TOKEN   gw_...   for scores, upload and history
  SYNC_URL      http://127.0.0.1:8081   BOT_TOKEN       bt_...   for sync and player
  CHARTS_URL    http://127.0.0.1:8082   CHART_API_KEY   mk_...   for chart

\`npm start\` prints all of them. FILE of upload holds [{ "musicId", "level", "achievement", "dxScore", ... }], FILE of sync
[{ "song_id", "level_index", "type", "achievements", "dxScore", "fc", "fs" }]. A quota that is used up is waited for.
`

/** An unknown command, or wrong arguments. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
