/** What operations are about, in the order in which the reference shows them. */
export const TAGS: Readonly<Record<string, string>> = {
  Score: 'A score belongs to a chart, `musicId` and `level`. Write, delete and read scores.',
  User: "A player's own data, items and gates.",
  Ticket: 'Buy, list and clear tickets. The balance is in credits.',
  Source: 'Bring scores here from other score services.',
  Sync: "Bots that bring players' scores.",
  Chart: 'The table of charts.',
  Quota: 'Used and remaining tokens of the caller. Free.',
  Health: 'Whether the service is there. Free, and open to everybody.',
  Reference: 'This document.',
  Administration: "For users with the administrator's role.",
}
