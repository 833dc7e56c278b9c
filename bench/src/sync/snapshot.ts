export interface SnapshotOptions {
  readonly records: number
  readonly chunks: number
  readonly qq: number
  /** The number of the player's snapshot. Each one has other scores. */
  readonly number: number
}

/** The bodies of a full snapshot, in the verbose form that bots send. */
export function chunksOf({ records, chunks, qq, number }: SnapshotOptions): string[] {
  const all = Array.from({ length: records }, (_, index) => ({
    title: `音楽のタイトル ${index}`,
    level: '13+',
    level_label: 'Master',
    level_index: index % 5,
    song_id: 1 + Math.floor(index / 5),
    type: 'DX',
    achievements: ((index + number) % 1_000_000) / 10_000,
    dxScore: 1_000 + ((index + number) % 1_000),
    fc: 'fc',
    fs: 'fs',
    rate: 'sss',
    ra: 300,
    ds: 13.7,
  }))
  const size = Math.ceil(records / chunks)
  return Array.from({ length: chunks }, (_, chunk) =>
    JSON.stringify({
      qq,
      full_snapshot: true,
      snapshot_id: `snapshot-${number}`,
      snapshot_final: chunk === chunks - 1,
      records: all.slice(chunk * size, (chunk + 1) * size),
    }),
  )
}
