import { describe, expect, it } from 'vitest'
import { bearerToken } from '../src/bearer-token.ts'
import { bareNumber, isSameText, multiplierOf, tokensOf } from '../src/form/form.ts'
import { plain } from '../src/ui/text.tsx'

describe('typed text', () => {
  it('a typed number may be formatted as in tables or with full-width digits', () => {
    const texts = ['1200', ' 1,200 ', '１２００', '１，２００', '1 200', '1\u00a0200', '1\u202f200']
    expect(texts.map(tokensOf)).toEqual(texts.map(() => 1_200))
    expect(tokensOf('100,000,000,000')).toBe(100_000_000_000)
    const others = [
      '',
      '1,20',
      '12,00',
      '1,200,',
      ',200',
      '1,2000',
      '1, 200',
      '1,200 300',
      '1.200',
      '-1',
      '1e3',
      '0x10',
    ]
    expect(others.map(tokensOf)).toEqual(others.map(() => undefined))
    expect(['1.5', '１．５', '1,5', '4.01', '.5'].map(multiplierOf)).toEqual([
      1.5,
      1.5,
      undefined,
      undefined,
      undefined,
    ])
    expect(['−1,200', '－１２', '+7'].map(bareNumber)).toEqual(['-1200', '-12', '+7'])
  })

  it('an equal number in another format is no change', () => {
    expect(isSameText('base.personal.read.1h', '1200', '1,200')).toBe(true)
    expect(isSameText('base.personal.read.1h', '1200', '1,20')).toBe(false)
    expect(isSameText('name', '12', '１２')).toBe(false)
  })

  it('a typed token may have the text that was copied with it', () => {
    const token = 'gw_AbC-123'
    const texts = [token, ` ${token}\n`, `Bearer ${token}`, `bearer  ${token}`, `Authorization: Bearer ${token}`]
    const more = [`"${token}"`, `\u200b${token}\ufeff`, 'gw_AbC\r\n-123', 'ｇｗ＿AbC-123']
    expect([...texts, ...more].map(bearerToken)).toEqual([...texts, ...more].map(() => token))
    expect(['', ' ', 'Bearer ', '令牌', 'gw_ü'].map(bearerToken)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })
})

describe('displayed names', () => {
  it('hidden characters in a name are shown, and text directions can’t leak', () => {
    expect(plain('Eve 伊芙')).toBe('Eve 伊芙')
    expect(plain('ad\u202enim')).toBe('ad[U+202E]nim')
    expect(plain('a\u200bd\u00ad\u2060min\ufeff')).toBe('a[U+200B]d[U+00AD][U+2060]min[U+FEFF]')
    expect(plain('\u3164\u00a0\u2800')).toBe('[U+3164][U+00A0][U+2800]')
    // In an emoji of several people the joiners are visible.
    expect(plain('👩‍👧 ❤️‍🔥 👍🏽')).toBe('👩‍👧 ❤️‍🔥 👍🏽')
    expect(plain('a\u200db')).toBe('a[U+200D]b')
    expect(plain('עדה')).toBe('\u2068עדה\u2069')
  })
})
