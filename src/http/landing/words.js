// The words of a question that matter, and the words of a text that match them. Words are divided, folded and stemmed as in
// src/words, so the page marks the words that the search has found.

const STOP_WORDS = new Set(('a an and are as at be been but by can could did do does for from had has have how i if in into is it its ' +
  'me my no not of on or our should so than that the their them then there these they this to us was we were what when where which who ' +
  'why will with would you your').split(' '))

/** The most words of a question that are marked. */
const MOST_WORDS = 64
/** A letter of a script without spaces between words, with its marks. */
const LETTER = '(?=[\\p{L}\\p{N}\\p{M}])[\\u0e00-\\u0eff\\u1000-\\u11ff\\u1780-\\u17ff\\u3005-\\ua4cf\\uac00-\\ud7ff\\uf900-\\ufaff\\uff66-\\uffdc' +
  '\\u{1b000}-\\u{1b16f}\\u{20000}-\\u{3ffff}][\\u0e47-\\u0e4e\\u0ec8-\\u0ece\\u1037\\u1039\\u103a\\u17c9-\\u17d3]*'
const WORD = new RegExp(`(${LETTER})(?=(${LETTER})?)|(?:(?!${LETTER})[\\p{Alphabetic}\\p{N}\\p{M}])+|\\p{Extended_Pictographic}`, 'gu')

/** Returns the words of a text with their positions. In scripts without spaces these are pairs of letters, and Chinese characters. */
function* wordsOf(text) {
  let end = 0
  for (const { 0: word, 1: letter, 2: next, index } of text.matchAll(WORD)) {
    if (next) yield [letter + next, index]
    if (!letter || /\p{Script=Han}/u.test(letter) || (!next && index >= end)) yield [word, index]
    if (next) end = index + letter.length + next.length
  }
}

/** Returns a word in lower case and without diacritics. */
const fold = (word) => word.toLowerCase().normalize('NFD').replace(/[\u0300-\u036f]/g, '')

/** Returns `-` for each consonant of a word and `#` for each vowel. `y` is a vowel after a consonant. */
const sounds = (word) => word.replace(/[^aeiou]y/g, '-#').replace(/[aeiou]/g, '#').replace(/[^#]/g, '-')
/** Returns how often a consonant follows a vowel. */
const measure = (word) => sounds(word).split('#-').length - 1
const hasVowel = (word) => /[aeiou]|.y/.test(word)
const endsShort = (word) => sounds(word).endsWith('-#-') && !/[wxy]$/.test(word)

/** The endings of a step of the stemmer, each with its replacement. The first ending that a word has applies. */
const endings = (text) => text.split(' ').map((each) => each.split('>'))
const DOUBLE_ENDINGS = endings('ational>ate tional>tion enci>ence anci>ance izer>ize logi>log bli>ble alli>al entli>ent eli>e ousli>ous ' +
  'ization>ize ation>ate ator>ate alism>al iveness>ive fulness>ful ousness>ous aliti>al iviti>ive biliti>ble')
const MIDDLE_ENDINGS = endings('icate>ic ative> alize>al iciti>ic ical>ic ful> ness>')
const LONG_ENDINGS = endings('al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize')

/** Returns the stem of a folded word, by the Porter stemmer: "rotate" and "rotation" have the same stem. */
function stem(word) {
  if (word.length < 3 || word.length > 64) return word
  const replace = (endings, fits) => {
    const [ending, by = ''] = endings.find(([ending]) => word.length > ending.length && word.endsWith(ending)) ?? []
    if (ending && fits(word.slice(0, -ending.length), ending)) word = word.slice(0, -ending.length) + by
  }
  word = word.replace(/(?<=.)(ss|i)es$|(?<!s)s$/, '$1')
  const [, start, past] = /^(.+?)(eed|ed|ing)$/.exec(word) ?? []
  if (past === 'eed') word = measure(start) > 0 ? `${start}ee` : word
  else if (past && hasVowel(start)) {
    word = start
    if (/.(at|bl|iz)$/.test(word)) word += 'e'
    else if (/([^aeioulsz])\1$/.test(word)) word = word.slice(0, -1)
    else if (measure(word) === 1 && endsShort(word)) word += 'e'
  }
  replace([['y', 'i']], hasVowel)
  for (const step of [DOUBLE_ENDINGS, MIDDLE_ENDINGS]) replace(step, (rest) => measure(rest) > 0)
  replace(LONG_ENDINGS, (rest, ending) => measure(rest) > 1 && (ending !== 'ion' || /[st]$/.test(rest)))
  replace([['e']], (rest) => measure(rest) > 1 || (measure(rest) === 1 && !endsShort(rest)))
  return word.endsWith('ll') && measure(word.slice(0, -1)) > 1 ? word.slice(0, -1) : word
}

/** Returns the stems of the words of a question that matter: all words but stop words, unless there are no others. */
function stemsOf(question) {
  const said = [...wordsOf(question)].map(([word]) => fold(word)).filter(Boolean)
  const matter = said.filter((word) => !STOP_WORDS.has(word))
  return new Set([...new Set((matter.length ? matter : said).map(stem))].slice(0, MOST_WORDS))
}

/** Appends a text to an element. Words whose stems are among `stems` are marked. */
function appendText(parent, text, stems) {
  let from = 0
  for (const [word, index] of stems.size ? wordsOf(text) : []) {
    const end = index + word.length
    if (end <= from || !stems.has(stem(fold(word)))) continue
    if (index > from) parent.append(text.slice(from, index))
    parent.append(el('mark', {}, text.slice(Math.max(from, index), end)))
    from = end
  }
  if (from < text.length) parent.append(text.slice(from))
}
