import { ENTRY } from '../gateway.ts'
import { one, type RefusalCase } from './case.ts'

const twenty = Array.from({ length: 21 }, () => ENTRY)

/** Bodies that say what cannot be. */
export const FIELDS: readonly RefusalCase[] = [
  {
    name: 'a list of another type',
    options: { body: { musicList: 'all' } },
    status: 422,
    error: 'validation_failed',
    paths: ['musicList'],
  },
  { name: 'an array as the body', options: { body: [ENTRY] }, status: 422, error: 'validation_failed', paths: [''] },
  {
    name: 'an empty list',
    options: { body: { musicList: [] } },
    status: 422,
    error: 'validation_failed',
    paths: ['musicList'],
  },
  { name: '21 entries', options: { body: { musicList: twenty } }, status: 422, error: 'validation_failed' },
  {
    name: 'everything wrong in one entry',
    options: one({
      musicId: '101',
      level: 5,
      achievement: 5000,
      dxScore: -1,
      comboStatus: 'best',
      syncStatus: 9,
      fuzzy: 'no',
    }),
    status: 422,
    error: 'validation_failed',
    paths: ['achievement', 'comboStatus', 'dxScore', 'fuzzy', 'level', 'musicId', 'syncStatus'].map(
      (name) => `musicList.0.${name}`,
    ),
  },
  {
    name: 'faults in two entries',
    options: {
      body: {
        musicList: [
          { ...ENTRY, level: 9 },
          { ...ENTRY, dxScore: 1.5 },
        ],
      },
    },
    status: 422,
    error: 'validation_failed',
    paths: ['musicList.0.level', 'musicList.1.dxScore'],
  },
  {
    name: 'an achievement between the two forms',
    options: one({ achievement: 101.0001 }),
    status: 422,
    error: 'validation_failed',
    paths: ['musicList.0.achievement'],
  },
  {
    name: 'the same chart twice',
    options: { body: { musicList: [ENTRY, { ...ENTRY, achievement: 99 }] } },
    status: 422,
    error: 'validation_failed',
    paths: ['musicList.1'],
  },
  {
    name: 'an unknown chart',
    options: one({ musicId: 999 }),
    status: 422,
    error: 'unknown_chart',
    paths: ['musicList.0'],
  },
  {
    name: 'one unknown chart among good ones',
    options: { body: { musicList: [ENTRY, { ...ENTRY, level: 4 }] } },
    status: 422,
    error: 'unknown_chart',
    paths: ['musicList.1'],
  },
  {
    name: 'a DX score too high',
    options: one({ dxScore: 1573 }),
    status: 422,
    error: 'dx_score_too_high',
    paths: ['musicList.0.dxScore'],
  },
  {
    name: 'a DX score beyond any',
    options: one({ musicId: 100_108, level: 10, dxScore: 100_000 }),
    status: 422,
    error: 'dx_score_too_high',
    paths: ['musicList.0.dxScore'],
  },
  {
    name: 'six stars',
    options: one({ dxScore: 6, fuzzy: true }),
    status: 422,
    error: 'validation_failed',
    paths: ['musicList.0.dxScore'],
  },
  {
    name: 'stars of a chart whose maximum is not known',
    options: one({ musicId: 100_108, level: 10, dxScore: 5, fuzzy: true }),
    status: 422,
    error: 'validation_failed',
    paths: ['musicList.0.dxScore'],
  },
  {
    name: 'deleting the same chart twice',
    path: '/v1/music/delete',
    options: {
      body: {
        musicList: [
          { musicId: 101, level: 3 },
          { musicId: 101, level: 3 },
        ],
      },
    },
    status: 422,
    error: 'validation_failed',
    paths: ['musicList.1'],
  },
  {
    name: 'deleting half a pair',
    path: '/v1/music/delete',
    options: { body: { musicId: 101 } },
    status: 422,
    error: 'validation_failed',
    paths: ['musicList.0.level'],
  },
]
