/**
 * The forms of secrets: what opens something for whoever has it. Passwords, PINs, codes of doors and safes, keys, tokens,
 * card numbers, seed phrases. What only names something, as an IBAN or a passport number does, is none, and what only speaks of
 * a secret is none: "the password policy", "PASSWORD=$VAULT", "password: required", "the door code was changed".
 *
 * Those that are in doubt are only what may be one: a word for what opens something, with what such a thing looks like
 * not far behind it. There a person is asked, and an agent is told who can insist.
 *
 * A text is looked at in small letters. The patterns use only what JavaScript and Python have in common:
 * agents/hermes/sideband/secrets.json is a copy. They take time in proportion to a text: a repeat is bounded, or can
 * begin at one place only.
 */

interface SecretPattern {
  readonly what: string;
  readonly pattern: string;
  readonly isDoubt?: true;
}

/** A key or a token does not begin in the middle of a word. */
const START = "(?<![a-z0-9])";
/** There is a digit in the next word: "sk-internationalisation" is no key. */
const DIGIT = "(?=[a-z_-]{0,40}[0-9])";

const API_KEYS = [
  "(?:sk|pk|rk|sb)[-_](?:live|test|proj|ant|or|svcacct|admin)[-_][a-z0-9_-]{8}",
  `sk-${DIGIT}[a-z0-9]{20}`,
  "AIza[a-z0-9_-]{30}",
  "(?:AKIA|ASIA)[a-z0-9]{16}(?![a-z0-9])",
  `(?:gsk|r8|tgp_v1|nvapi|pplx|xai|fw)[-_]${DIGIT}[a-z0-9_-]{20}`,
  `(?:whsec|rubygems|figd|secret|ntn|lin_api|sbp|re|phx)_${DIGIT}[a-z0-9_-]{24}`,
  "(?:key|SK|dapi)-?[0-9a-f]{32}(?![a-z0-9])",
  `(?:PMAK|NRAK|CCIPAT)[-_]${DIGIT}[a-z0-9_-]{20}`,
  "SG\\.[a-z0-9_-]{16,64}\\.[a-z0-9_-]{16}",
  "AGE-SECRET-KEY-1[a-z0-9]{20}",
];

const ACCESS_TOKENS = [
  "sbt_[a-z0-9_-]{20}",
  "gh[pousr]_[a-z0-9]{20}",
  "github_pat_[a-z0-9_]{20}",
  "gl(?:pat|dt|rt|ptt|cbt)-[a-z0-9_-]{16}",
  `xox[abcdeoprs][-.]${DIGIT}[a-z0-9-]{10}`,
  "xapp-[0-9]-[a-z0-9-]{10}",
  `npm_${DIGIT}[a-z0-9]{30}`,
  "hf_[a-z0-9]{30}",
  "pypi-[a-z0-9_-]{32}",
  "ya29\\.[a-z0-9_-]{20}",
  "GOCSPX-[a-z0-9_-]{20}",
  "hv[sbr]\\.[a-z0-9_-]{24}",
  "dckr_(?:pat|oat)_[a-z0-9_-]{20}",
  "do[opr]_v1_[0-9a-f]{32}",
  "shp(?:at|ss|ca|pa)_[0-9a-f]{32}",
  "sq0(?:atp|csp)-[a-z0-9_-]{20}",
  `(?:glsa_|sntrys_|vercel_|ATATT3x)${DIGIT}[a-z0-9_=-]{24}`,
  `(?:fm[12]|tskey-[a-z]{2,12}|pscale_(?:tkn|pw|oauth))[-_]${DIGIT}[a-z0-9_-]{16}`,
  "[0-9]{8,10}:AA[a-z0-9_-]{33}",
  "[a-z0-9_~.-]{3}8Q~[a-z0-9_~.-]{30}",
  "hooks\\.slack\\.com/services/T[a-z0-9]{6,12}/B[a-z0-9]{6,12}/[a-z0-9]{16}",
  "discord(?:app)?\\.com/api/webhooks/[0-9]{16,20}/[a-z0-9_-]{32}",
];

/** Names of what is secret, also as the end of a longer name. */
const PASSWORDS =
  "pass(?:word|wd|phrase|code)|passwort|kennwort|mot de passe|contraseña|palavra-passe|(?<![a-z])senha|wachtwoord|lösenord(?:et)?" +
  "|passord(?:et)?|adgangskode|salasana|hasło|heslo|jelszó|пароль|şifre(?:si)?|parola|mật khẩu|kata sandi|(?<![a-z])mdp|(?<![a-z])pwd?";
/** Names that are usual words as well: only what looks made up is taken for one's value. */
const NETWORK_KEYS =
  "(?<!palabra )clave|(?:wpa[23]?|wi-?fi|wlan|network|netzwerk)[- ]?(?:key|code|schlüssel)|clé (?:du |de la |wpa )?(?:wi-?fi|box)" +
  "|pre-?shared key|(?<![a-z])psk";
const KEYS =
  "(?:api|access|secret|private|account|auth|signing|encryption|master|storage|shared[_ -]?access)[_ -]?key" +
  "|(?:access|auth|api|bot|refresh|session|bearer|secret|id)[_ -]?token|client[_ -]?secret";
const SUFFIX = "(?:[_-](?:prod|production|staging|dev|test|live|base|hex|value|[0-9]{1,2}))?(?![a-z0-9_])";
/** What stands in place of a secret: a variable, a gap to fill, where it is kept, what is asked of it. */
const NO_SECRET =
  "(?![\"'`]?(?:\\$[a-z_{(]|[<{…]|\\*{3}|\\.\\.\\.|x{3}|%[a-z_]{1,40}%|\\[[a-z _-]{1,40}\\]|\\([a-z _-]{1,40}\\)|[a-z_.]{1,40}\\(" +
  "|#\\{|op://|arn:|file:|https?://|env[.:]|process\\.env|os\\.|secrets?[.:/]|config[.:]|!(?:vault|ref|secret|env|sub)|~/" +
  "|/(?:home|users|root|etc|usr|var|run|opt|srv|mnt|tmp)/|[0-9]{1,3}\\+?(?:\\s?(?:-|–|to)\\s?[0-9]{1,3})?[ -]?(?:char|sign|letter|zeichen|digit|bit|day|byte)|[0-9.]{1,6}\\s?(?:[gmk]hz|[gmk]bit|[gmk]bps)" +
  "|(?:vault|1password|bitwarden|lastpass|dashlane|keepass(?:xc)?|keychain|keyring|none|null|nil|true|false|undefined|empty|required" +
  "|optional|mandatory|rotated|stored|managed|unknown|changed|changeme|expired|hidden|redacted|masked|disabled|enabled|encrypted|hashed" +
  "|sha-?[0-9]{1,3}|md5|bcrypt|argon2(?:id?|d)?|scrypt|pbkdf2|oauth-?2|base64|str|string|text|bytes)(?![a-z0-9-])" +
  "|[a-z0-9_]{1,40}_(?:key|token|secret|password|pwd)(?![a-z0-9_])))";
/** What a password can be said to be. */
const NO_WORD =
  "(?!(?:[a-z]{2,20}(?:ed|ing|able|lich|bar)|wrong|weak|strong|short|long|safe|secure|insecure|secret|private|public|missing|blank|here|there" +
  "|below|above|valid|invalid|correct|incorrect|known|forgotten|broken|unsafe|okay|fine|same|gone|lost|falsch|richtig|geheim|bekannt|sicher" +
  "|schwach|stark|incorrecto|incorrecta|correcta|faux|nuova|nieuw|fout|password|username|case-sensitive)(?![a-z0-9]))";
const QUOTE = "[\"'`“”„]";
/** A sign of a password that no word of prose has inside. */
const ODD_SIGN = "(?=\\S{0,200}(?:[0-9]|[!@#$%^&*]\\S))";
/** Letters with digits or signs among them, six or more; six digits; groups of four; three words with hyphens. */
const MADE_UP =
  "(?:(?=[^\\s0-9]{0,60}[0-9])(?=[0-9.,:;()/+-]{0,60}[^\\s0-9.,:;()/+-])\\S{6}|[^\\s0-9]{2,60}[!@#$%^&*][a-z0-9]|[0-9]{6}|[0-9]{4}(?:-[0-9]{4}){2}|[a-z]{4,20}(?:-[a-z]{4,20}){2})";
const IS =
  "(?:(?:is|was|lautet|ist|war|est|es|è|é|är|er|jest|to|это|→|->)(?:\\s{1,4}(?:now|still|jetzt|(?:re)?set to|changed to))?" +
  "|(?:re)?set to|changed to|geändert auf)";
/** "for the staging box", "vom Server", "du wifi". */
const OF_WHAT =
  "(?:\\s{1,4}(?:for|of|to|on|in|at|from|zu|zum|zur|für|von|vom|am|beim|im|der|des|du|de|da|do|del|della|di|van|voor|till|för|od|от|для|к)" +
  "(?:\\s{1,4}[^\\s:=]{1,40}){1,4}?)?";

/** Words between a name and a colon; what is about a password is not followed by one. */
const OF_ANY =
  "(?:\\s{1,4}(?!polic|reset|rule|manage|length|field|hash|strength|ticket|page|flow|test|prompt|rotat|bug|issue|form|input|column|table|script)" +
  "[^\\s:=]{1,40}){0,4}?";

/** What a code opens. */
const DOOR =
  "(?<![a-z])(?:door|gate|garage|alarm|safe|vault|(?:key|lock)[ -]?box|key[ -]?safe|lock|locker|padlock|entry|entrance|access|unlock|disarm|entsperr|tan|duress" +
  "|intercom|keypad|haustür|tür|tor|garagen(?:tor)?|tresor|schlüssel(?:safe|kasten|tresor|box)|alarmanlage|schloss|porte|portail|immeuble" +
  "|coffre|alarme|puerta|portal|caja fuerte|alarma|portone|cancello|cassaforte|allarme|porta|portão|cofre|deur|kluis|drzwi|bramy|sejfu?" +
  "|двери|домофона|сейфа|подъезда)";
const COMBINATION =
  "combination|combo|kombination|combinación|combinaison|combinazione|combinação|combinatie";
const CODE = `(?:code|código|codice|kod|код|${COMBINATION})`;
const OF_CARD =
  "(?:\\s{1,4}(?:[a-z]{0,10}kart[ey]|карты|card|carte|tarjeta|carta|cartão|sim|bank|phone|handy|four digits))?";
const NUMBER_IS = `${OF_CARD}${OF_WHAT}(?:\\s{0,4}[:=#,]|\\s{1,4}${IS})?\\s{0,4}`;
/** Three digits or more, perhaps with a letter, a star or a hyphen after one. */
const CODE_NUMBER = "(?<![a-z0-9])[a-z#*]{0,2}(?:[0-9][a-zа-я#*-]?){3,12}(?![a-z0-9]|[.:/][0-9])";
const TURN = "(?:left|right|links|rechts|gauche|droite)\\s{1,2}[0-9]{1,2}";
const LOCK_NUMBERS = `(?:[0-9]{1,2}(?:\\s?[ –-]\\s?[0-9]{1,2}){2,5}(?![0-9.:]|\\s?(?:mg|ml|kg|cm|mm|km|%|rule|backup))|${TURN}[\\s,;-]{1,3}${TURN})`;
const ACCOUNT =
  "(?<![a-z])(?:login|user(?:name)?|account|credentials|zugang|anmeldung|benutzer|identifiant|usuario|utente)";

/** Words in between. */
const SOON = ".{0,60}?";
/** What is opened by a number. */
const OPENED =
  "(?<![a-z])(?:alarm[ae]?|allarme|keypad|pad ?lock|(?:key|lock)[ -]?box(?:es)?|key[ -]?safe|schlüssel(?:safe|kasten|tresor|box)|boîte (?:à|a) cl(?:és|efs)|caja de llaves|cassetta (?:delle |per )?chiavi|sleutel(?:kluis|kastje|kast)|nyckel(?:box|skåp)|locker|locked|digicode|türcode|intercom|gate|safe|combination|tresor|kluis|slot" +
  "|(?:vorhänge|zahlen|fahrrad)?schloss|cadenas|candado|lucchetto|hänglås|hengelås|kłódka|замок|сигнализация)(?![a-z])";
/** "room 1408": Python looks behind only by a fixed width, so each word is on its own. */
const NAMED_NUMBER = "room house flat model type zimmer haus modell hausnummer"
  .replace(/\w+/g, "(?<!$& )")
  .replaceAll(") (", ")(");
/** No year, no time, no street, and nothing with a name or a unit. */
const OPENING_NUMBER =
  `(?<![a-z0-9.,:/€$£+-])(?<![0-9]{2} )(?<!at )(?<!iso )${NAMED_NUMBER}(?!(?:19|20)[0-9]{2}(?![0-9])|0[4-9][0-5][05](?![0-9]))(?:[0-9]{1,2}(?:\\s?-\\s?[0-9]{1,2}){2,4}|[0-9]{4,6}[#*]?|[0-9]{2,3}[#*]|[a-z][0-9]{4,5})` +
  "(?![a-z0-9:/%€°£$]|[.,-][0-9]|\\s?[0-9]|\\s?(?:rule|backup|m?g|k[gmw]|ml|[cm]m|ft|v|hz|rpm|eur|usd|euros?|dollars?|people|pounds|steps)(?![a-z])|\\s[a-zà-ÿ]{2,20}\\s(?:street|st|road|rd|avenue|ave|lane|drive)(?![a-z]))";
/** A word with numbers or signs, as nobody would call a thing. */
const ODD_WORD =
  "(?<![^\\s\"'`(])(?!802|wpa|fritz|https?:|\\S{0,30}(?:hz|bit|bps)(?![a-z]))(?=[^\\s0-9]{0,40}[a-zà-öø-ÿ]{3})(?=\\S{0,40}(?:[0-9]{2}|[!@#$%&*][0-9]|[0-9][!@#$%&*]))[^\\s,;:/()]{8,60}";
/** Two groups of letters and numbers. */
const GROUPS_OF_CODE = "(?:(?=[a-z]{0,5}[0-9])[a-z0-9]{4,6}[ -]){1,6}(?=[a-z]{0,5}[0-9])[a-z0-9]{4,6}";
const MIXED = "(?=[a-z]{0,5}[0-9])(?=[0-9]{0,5}[a-z])[a-z0-9]{4,6}";
const SEED_WORD =
  "(?!(?:the|and|for|are|was|with|not|that|this|from|has|have|but|our|you|all)(?![a-z]))[a-z]{3,8}";

const DOUBTS: readonly SecretPattern[] = [
  { what: "the code of a lock", pattern: `${OPENED}${SOON}${OPENING_NUMBER}` },
  {
    what: "a password",
    pattern:
      `(?<![a-z])(?:wi-?fi|wlan)(?![a-z])${SOON}${ODD_WORD}` +
      "|(?:schlüssel|key|clave|clé|chiave|sleutel|nyckel|ключ)\\s{1,4}(?:is\\s|ist\\s|:\\s)?(?<![0-9])[0-9]{16,24}(?![0-9])" +
      `|(?<![a-z])(?:sudo|root|log-?in|ftp|konto|account|auth|admin|pass|pw)(?![a-z]).{0,40}?(?:\\s(?:is|ist|est|es|è)|[:=]|->|→)\\s{1,3}${ODD_WORD}` +
      `|\\S\\s/\\s(?:auth\\s)?(?=[^\\s0-9]{0,60}[0-9])(?:${ODD_WORD}|[0-9a-f]{32})|(?:ftp|ssh|login)\\s\\S{1,40}\\s/\\s(?=\\S{0,40}[0-9])\\S{8}` +
      "|(?:online|telefon|phone|bank|app|karten?|card)[ -]?pin(?![a-z]).{0,20}?(?=[a-z]{1,7}[0-9]|[0-9]{1,7}[a-z])[a-z0-9]{4,8}(?![a-z0-9])",
  },
  {
    what: "an answer that opens an account",
    pattern:
      "(?:security question|secret answer|maiden name|code ?word|sicherheitsfrage|geheime antwort|question secrète|pregunta de seguridad|domanda di sicurezza|veiligheidsvraag)" +
      ".{0,60}?(?:\\s(?:is|ist|est|es|è)\\s|[:=]|->|→)\\s{0,3}[^\\s]",
  },
  {
    what: "a code for signing in",
    pattern:
      "(?<![a-z])(?:i?tan|(?:backup|recovery|rescue|one-time|einmal|notfall)[ -]?codes?)(?![a-z]).{0,40}?(?<![0-9])(?:[0-9]{6,8}|[0-9]{4}[ -][0-9]{4})(?![0-9])",
  },
  {
    what: "a seed phrase",
    pattern: `(?:seed|mnemonic|metamask|ledger|trezor|wallet|phrase)[^.]{0,24}?(?:(?:^|[\\s,.)]{1,2})(?:[0-9]{1,2}[.)]?\\s)?${SEED_WORD}(?![a-z])){11}`,
  },
  {
    what: "the code of a card or a licence",
    pattern:
      `(?:gift ?card|gutschein|voucher|paysafe(?:card)?|itunes|steam|prepaid|bon cadeau|tarjeta regalo|buono|cadeaubon).{0,40}?(?<![a-z0-9-])(?:[a-z]{1,3}-)?${GROUPS_OF_CODE}` +
      `|(?:licen[cs]e|lizenz|product key|activation|recovery|bitlocker|windows|office).{0,40}?(?<![a-z0-9-])(?:[a-z]{1,3}-)?${MIXED}-${MIXED}` +
      "|(?:licen[cs]e|lizenz)(?:\\skey)?[:\\s]{1,3}(?=[a-z]{0,20}[0-9])(?=[0-9]{0,20}[a-z])[a-z0-9]{10}" +
      `|(?<![a-z0-9-])${MIXED}(?:-${MIXED}){2}`,
  },
];

export const SECRET_PATTERNS: readonly SecretPattern[] = [
  { what: "a private key", pattern: "-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY|PuTTY-User-Key-File-[0-9]" },
  { what: "an API key", pattern: `${START}(?:${API_KEYS.join("|")})` },
  {
    what: "a key or a token",
    pattern: `(?<![a-z])(?:key|token|secret)${OF_WHAT}(?:\\s{1,4}is|\\s{0,4}[:=])?\\s{1,4}(?=[a-z]{0,60}[0-9])(?=[0-9a-f]{0,60}[g-z])[a-z0-9]{24}|(?<![a-z])token\\s{1,4}[0-9a-f]{32}`,
  },
  {
    what: "an access token",
    pattern:
      `${START}(?:${ACCESS_TOKENS.join("|")})` +
      "|[?&#](?:[a-z]{1,12}[_-])?(?:token|api[_-]?key|key|sig|signature|secret|auth|password|pwd|session)=(?=[a-z%+/_.~-]{0,60}[0-9])[a-z0-9%+/_.~-]{12}",
  },
  {
    what: "a signed token (JWT)",
    pattern: "(?<![a-z0-9_-])eyJ[a-z0-9_-]{8,}\\.[a-z0-9_-]{8,}\\.[a-z0-9_-]{8}",
  },
  {
    what: "an authorization header",
    pattern: "\\b(?:bearer|basic)\\s{1,4}(?=[a-z._~+/-]{0,200}[0-9=])[a-z0-9._~+/=-]{16}",
  },
  {
    what: "an address with a password",
    pattern:
      "\\b[a-z][a-z0-9+.-]{1,20}://[^/\\s:@]{0,100}:(?!\\$[a-z_{(]|[<{*]|(?:pass(?:word|wd)?|pwd|secret|changeme)@)[^/\\s@]{1,200}@",
  },
  {
    what: "a password",
    pattern:
      `(?:${PASSWORDS}|secret|${KEYS})${SUFFIX}${QUOTE}?\\s{0,4}` +
      `(?:(?:=>?|:=)\\s{0,4}${NO_SECRET}\\S{3}|:\\s{0,4}${NO_SECRET}(?:${ODD_SIGN}\\S{6}|${QUOTE}?[^\\s,;]{6,100}\\s{0,4}$))`,
  },
  {
    what: "a password",
    pattern:
      `(?:${PASSWORDS})${SUFFIX}${OF_WHAT}\\s{0,4}(?::|\\s${IS}\\s{0,4}:?(?=\\s))\\s{0,4}${NO_SECRET}` +
      `(?:${QUOTE}[^"'\`“”„]{3,100}${QUOTE}|${ODD_SIGN}\\S{4}|${NO_WORD}(?:[^\\s,;]{4,100}(?:[,;]|\\s{0,4}$)|[a-z]{4}(?: [a-z]{4}){3}$))`,
  },
  {
    what: "a password",
    pattern: `(?:${KEYS})${OF_WHAT}\\s{1,4}${IS}\\s{0,4}:?\\s{1,4}${NO_SECRET}(?:${QUOTE}\\S{3,100}${QUOTE}|${ODD_SIGN}\\S{6})`,
  },
  {
    what: "a password",
    pattern:
      `(?:${PASSWORDS})(?![a-z0-9_])(?:${OF_ANY}\\s{0,4}[:=])?\\s{1,4}${NO_SECRET}${MADE_UP}` +
      `|(?<![a-z])(?:wi-?fi|wlan)(?![a-z]).{0,40}?(?:\\s/\\s|[^a-z]key:?\\s)${NO_SECRET}${MADE_UP}` +
      `|(?<![a-z])(?:${NETWORK_KEYS})${OF_WHAT}(?:\\s{0,4}[:=]|\\s{1,4}${IS})?\\s{1,4}${NO_SECRET}${MADE_UP}` +
      `|(?:パスワード|密码|密碼|비밀번호|暗証番号|पासवर्ड|كلمة (?:المرور|السر)|סיסמה)\\s{0,2}(?:は|是|为|為|:|는|은|है|هي)?\\s{0,2}${NO_SECRET}(?=[!-~]{0,40}[0-9])[!-~]{4}`,
  },
  {
    what: "a pass phrase",
    pattern:
      `pass ?phrase${OF_WHAT}(?:\\s{0,4}[:=]|\\s{1,4}${IS})\\s{1,4}(?:(?!(?:ask|see|the|not|for|stored|kept|with|from|your|only)(?![a-z]))[a-z]{3,12}(?:[\\s-]|$)){3}` +
      "|(?:(?:seed|recovery|mnemonic|wallet|secret|backup)[ -]?(?:phrase|words?)|mnemonic)[^a-z]{1,4}(?:(?:is|are)\\s)?(?:[a-z]{3,8}[ ,]{1,2}){11}" +
      `|^(?:(?!(?:the|and|for|are|was|with|not|that|this|from|has|have|but)(?![a-z]))[a-z]{3,8} ){11}(?:(?:[a-z]{3,8} ){3}){0,4}[a-z]{3,8}$`,
  },
  {
    what: "a password",
    pattern:
      `(?<![a-z0-9-])--?(?:password|passwd|api-key|secret|token)\\s{1,4}${NO_SECRET}${ODD_SIGN}\\S{6}` +
      `|(?:db|database|user|root|admin|smtp|mail|mysql|pg|redis|ftp|ssh|login)[_-]?pass${SUFFIX}\\s{0,4}[=:]\\s{0,4}${NO_SECRET}\\S{3}` +
      `|(?<![a-z0-9])(?:[a-z0-9]{1,30}[_-])?token["'\`]?\\s{0,4}[=:]\\s{0,4}["'\`]?${NO_SECRET}(?=[a-z_.-]{0,100}[0-9])[a-z0-9_.-]{16}` +
      "|\\blogin\\s{1,4}\\S{1,64}\\s{1,4}password\\s{1,4}\\S{3}" +
      `|\\bcurl\\b.{0,80}\\s-u\\s{0,4}["']?[^\\s:"']{1,64}:${NO_SECRET}\\S{3}` +
      `|\\bsshpass\\s{1,4}-p\\s{0,4}${NO_SECRET}\\S{3}|\\bmysql(?:dump|admin)?\\s.{0,80}\\s-p${NO_SECRET}[^\\s-]\\S{2}` +
      `|${ACCOUNT}[\\s:].{0,80}?[^a-z0-9]pass[\\s:=]{1,4}${NO_SECRET}${ODD_SIGN}\\S{4}` +
      `|${ACCOUNT}[\\s:](?:\\S{1,64}@\\S{1,64}?/|[^/]{1,80}?\\s/\\s)${NO_SECRET}${MADE_UP}` +
      `|(?:router|camera|printer|panel|nas|login|fritz!?box|modem)[\\s:]{1,4}(?:is\\s)?(?:admin|root|user)\\s?/\\s?${ODD_SIGN}[^\\s/.]{4,40}(?![^\\s,;])`,
  },
  {
    what: "a PIN",
    pattern:
      `(?<![a-z0-9])(?<![0-9]-)(?:(?:pin|puk|mpin|passcode|geheimzahl|пин(?:-?код)?)(?:[- ]?(?:nummer|number))?${NUMBER_IS}(?<![0-9])[0-9]{4,8}` +
      `|pin[- ]?[ck]ode?${NUMBER_IS}(?<![0-9])[0-9]{4,5})(?![0-9a-z]|[.,:/-][0-9])` +
      `|(?<![a-z])(?:cvv2?|cvc2?|security code|kartenprüfnummer)${NUMBER_IS}(?<![0-9])[0-9]{3,4}(?![0-9])`,
  },
  {
    what: "the code of a lock",
    pattern:
      `${DOOR}(?:[ -](?:door|pad|lock|pattern))?[:,]?[\\s-]{0,2}(?:the\\s)?${CODE}${NUMBER_IS}${CODE_NUMBER}` +
      `|(?:keypad|(?:key|lock)[ -]?box|key[ -]?safe|schlüssel(?:safe|kasten|tresor|box))(?:\\s{0,4}:|\\s{1,4}${IS})\\s{1,4}${CODE_NUMBER}` +
      `|(?<![a-z])${CODE}(?:\\s{1,4}(?:for|of|to|at|de|d|del|dell|della|der|des|do|da|du|für|zum|zur|vom|van|voor|till|от|для|к)(?:[\\s'’]{1,4}[^\\s:'’]{1,20}){0,3}?)?[\\s'’]{1,4}${DOOR}${NUMBER_IS}${CODE_NUMBER}` +
      `|(?<![a-z])(?:opens?|unlocks?|öffnet|s'ouvre|se abre|si apre)\\s{1,4}(?:with|by|mit|avec|con)\\s{1,4}(?:(?:the )?code\\s)?${CODE_NUMBER}` +
      `|(?<![a-z])(?:digicode|türcode)${NUMBER_IS}${CODE_NUMBER}` +
      `|(?:(?<![a-z])(?:${COMBINATION}|(?:pad)?lock|candado|cadenas|lucchetto|замок)|schloss)${NUMBER_IS}(?<![0-9])${LOCK_NUMBERS}` +
      `|(?<![a-z])(?:locker|safe|tresor|coffre|kluis|сейф)${OF_WHAT}(?:\\s{0,4}[:,]|\\s{1,4}${IS})\\s{1,4}${LOCK_NUMBERS}`,
  },
  {
    what: "the number of a payment card",
    pattern:
      "(?<![0-9])(?<![0-9][ -])(?:(?:4[0-9]{3}|5[1-5][0-9]{2}|2[2-7][0-9]{2}|6011|65[0-9]{2})(?:([ -])[0-9]{4})(?:\\1[0-9]{4}){2}|3[47][0-9]{2}[ -][0-9]{6}[ -][0-9]{5})(?![ -]?[0-9])" +
      "|(?:card|karte|carte|tarjeta|visa|master ?card|amex)[^0-9]{1,30}(?:[45][0-9]{15}|3[47][0-9]{13})(?![0-9])",
  },
  {
    what: "a code for signing in",
    pattern:
      `(?:backup|recovery|2fa|mfa|one-time|otp|wiederherstellungs|notfall)[- ]?codes?${OF_WHAT}[^a-z0-9]{1,4}(?:(?:is|are)\\s)?(?=[a-z]{0,12}-?[a-z]{0,12}[0-9])[a-z0-9]{3,12}-?[a-z0-9]{3}` +
      "|(?:totp|2fa|mfa|otp|authenticator)[- ](?:secret|key|seed|setup key)[^a-z0-9]{1,4}(?:is\\s)?[a-z2-7]{16}|otpauth://",
  },
  { what: "a key or a token", pattern: "(?<![0-9-])[0-9]{6}(?:-[0-9]{6}){3}" },
  ...DOUBTS.map((doubt) => ({ ...doubt, isDoubt: true as const })),
];
