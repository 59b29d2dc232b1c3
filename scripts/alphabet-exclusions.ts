/**
 * Words that the alphabet leaves out, beyond those of the published lists (see build-alphabet.ts): found by
 * reading the candidates through. They are harmless in most sentences, but a block is 512 words without a
 * sentence, inside somebody's prompt: nothing in it may read as a person, an order, a threat or an opinion.
 *
 * Part of the wire format: a change here changes the alphabet and therefore needs a new format version.
 */

const words = (text: string) => text.trim().split(/\s+/);

/** Surnames, and first names that the published list does not know. */
const people = words(`
  Abbas Abbott Abd Abu Andersen Andrews Armstrong Bach Bain Baker Baldwin Barber Barker Barr Barth Barton Bates
  Bauer Becker Berger Bernstein Biden Blackburn Blanc Booker Boone Bowie Boyle Braun Briggs Buchanan Burke Byrne
  Carlson Carnegie Carpenter Carr Carroll Castro Chand Chapman Chen Cheng Chow Chu Churchill Clarke Claus
  Cobb Coleman Collins Columbus Conway Cornell Crawford Cunningham Curry Dahl Daniels Davidson Davies Deng
  Dickinson Dixon Doe Dunn Durant Eaton Einstein Engel Euler Falk Farr Feld Feng Ferguson Fischer Fisher Fitz
  Fitzgerald Fleming Forbes Fourier Fowler Freeman Friedman Fuller Fulton Gallagher Gandhi Gardner Garland 
  Gibbs Gill Goldberg Goldman Gonz Goodman Gore Gould Greene Greenwood Griff Griffith Gunn Gupta Hale Hamilton
  Hamm Hammond Hampton Hancock Hann Hansen Hanson Hardy Hart Hastings Hawkins Henderson Hess Hicks Higgins Hilton
  Hiro Hoff Hoffman Hogan Holmes Holt Hoover Hopkins Huang Humph Huntington Huss Hussein Hutch Hyde Jacobs
  Jennings Jiang Jin Johns Johnston Jones Josef Jung Kafka Kang Kant Kaplan Katz Keller Kemp Kern Kerr
  Keynes Khan Klein Koch Krishna Kumar Laden Lafayette Larson Lau Lear Levin Lind Liu Livingston Lowe Lund Lyons
  Mann Manning Mao Markus Martins Marx Matthews Mayer Mercer Meyer Middleton Minh Monroe Moody Morrison Morton
  Mozart Mueller Musk Myers Napoleon Newman Newton Nguyen Nichols Nicol Nielsen Nixon Nobel Norris Norton Obama
  Osborne Owens Parkinson Parsons Patel Patterson Payne Paz Pearson Perkins Peters Philips Picasso Pitt Plato Poe
  Potter Pratt Putin Ramos Rao Reynolds Rhodes Richards Robbins Robertson Rodgers Romney Rosen Roth Sachs Santos
  Saunders Schmidt Schneider Schwartz Shah Shakespeare Sharma Shaw Shen Silva Simmons Simpson Sims Sinclair Singh
  Sloan Smith Snyder Springer Stafford Stalin Steele Stein Stephens Stevens Stevenson Thomson Thornton Tolkien
  Vanderbilt Vaugh Vinci Wagner Walsh Walton Warner Watkins Watt Watts Weaver Webb Weber Webster Wei Weiss Welch
  Wheeler Williamson Witt Wolfe Wong Wyn Xu Yan Yong Yu Yun Zhang Zhao Zhou Zhu Zucker trump
  Aleks Aless Alexand Amar Bened Constantin Dimit Dmit Freder Gabri Georg Georges Guill Jenn Joh Jord Juli Kath
  Kend Kenn Krist Laur Lyn Matth Nich Reyn Suz Valent Vere Vern Adams Barnes Butler Diaz Edwards Evans Garcia Gomez
  Gonzalez Hernandez Hughes Jenkins Johnson Lopez Martinez Moore Perez Peterson Phillips Powell Reyes Richardson
  Rivera Roberts Robinson Rodriguez Rogers Sanders Thompson Torres Watson Williams Wright Wolver Augusta Barb Ced Clem Elis Jac Lew Maur Rey Ric Tay
`);

/** First names without their capital, where the word is nothing else, or hardly anything else, in English. */
const peopleInLowerCase = words(`
  ada adam al ali allen ana ange ann aston bas ben bert bob cara cas che cher cole cooper dan dav deb della drew
  elle flo hal han jack jak jan jed jo jon juni kat kay ken kim laure len lex lia liv lou luc marc matt meg mel ned
  nell nick nour pam pat phil raj rob roy russ ruth sam sid stan ted thor tim todd tom uma una vera vic wil zak
`);

/** What could be taken for an order to the model, or belongs to an attack on one. */
const control = words(`
  admin assistants bypass command commanded commander commanding commands credential credentials delete deleted
  deleting deletion erase erased executable execute executed executes executing executor exploit exploitation
  exploited exploiting exploits forget forgetting hack ign ignor ignored ignores ignoring inject injected injecting
  injection injections instructed intrusion malicious malware obedience overriding payload pretend pretending
  prompted prompting purge secretly secrets shutdown spam sudo sys terminate terminated terminating termination
  unauthorized username users usuario vulnerabilities vulnerability
`);

/** Violence, crime, war, death. */
const violence = words(`
  arsen arsenal artillery assass battle battlefield battles betray blast bullying cannon carcin choke
  combat corrupt corruption dagger deceased deport destruction destructive detained devast devastating dood
  explo explode exploded firearms fist guerra guilt guilty hangs hass hepat hung illeg illicit imprison
  imprisoned imprisonment incarcer infiltr insurg intim intimid invaded invasion leth mob mort mortal oppression
  persecution pirate pirates prisons punish punished punishment raid raids rebellion revenge riot scar scars
  segregation shotgun siege smashed spear stealing steals stole stolen steal sword swords terr terrified terrifying
  thief vandal vicious villain viol violate violated violating violation violations war warrior warriors wars
  wicked zombie arrest arrested arrests gang gangs harm harmful hurt hurting hurts
`);

/** Vulgar, intimate or demeaning, in English or in a language near it. */
const vulgar = words(`
  bipolar bowel bras chick cervical cerv coc cul dementia diarr diarrhea dic dik dum erected feminist fetal
  handic handicap hoe hun idi ignorance ignorant incompet insane insult Kak kil Kut kont lover lovers mad
  mating menstrual Mongo naz Niger orally ovarian pelvic penetrating plantation prostate prost pus racial
  rac schizophrenia screwed servant servants slit sob sod stripped stripping stup Suk vulgar
  whipped Hag Hick Oriental Gat Sik colored coloured Heck Kush Alzheimer Corona
`);

/** Parties, faiths, and places that are in dispute. */
const opinion = words(`
  Aboriginal Allah Bible Buddha Buddhism Buddhist Confeder Confederate Covenant Democrat Democrats Gaza
  Imam Israeli Jerusalem Judaism Kashmir Kiev Kosovo Messiah Methodist Mormon Palest Palestine
  Palestinian Presbyterian Prophet Quran Rabbi Republican Republicans Sabbath Sheikh Sinai Soviet Sov Taiwan
  Taiwanese Taliban Tibet Tibetan Torah Vatican communist socialist Afghan Afghanistan Iraq Iraqi Baghdad
  Africans Americans Australians Canadians Europeans Germans Greeks Indians Russians
`);

/** Trade names, teams and heroes of fiction. */
const brands = words(`
  Adobe Airbus Amazon Avengers Batman Beatles Boeing Broncos Bruins Chevrolet Cisco Coca Coke Cubs Disney Dodgers
  Ferrari Firebase Firefox Gemini Grammy Honda Hyundai Instagram Intel Jedi Jeep Kubernetes Lakers Mets Microsoft
  Netflix Nike Nikon Nintendo Nissan Nokia Pokemon Porsche Renault Reuters Samsung Siemens Sony Spotify Steelers
  Superman Suzuki Symfony Tata Tesla Toyota Uber Volkswagen Wii Wikipedia Xbox Yahoo facebook github google roku
  twitter youtube
`);

/** Given as first names by the published list, but months, places, stars and trees first of all: kept. */
export const KEPT: readonly string[] = words(`
  Alaska Albany Alberta America Asia Athena Atlanta Aurora Boston Brighton Bristol Brooklyn Carolina Dakota Dallas
  Denver Eden Georgia Indiana January July June Laurel London Lotus Meadow Milan Milano Montana Nile Orion Orlando
  Paris Philippine Phoenix Princeton Rio Rover Sahara Savannah Sierra Swan Sydney Tao Trinity Venus Vienna Willow
  York Zion
`);

export const EXCLUSIONS: Readonly<Record<string, readonly string[]>> = {
  people,
  peopleInLowerCase,
  control,
  violence,
  vulgar,
  opinion,
  brands,
};
