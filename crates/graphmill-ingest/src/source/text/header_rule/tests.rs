//! First lines above others, and what they are taken for.

use super::*;

fn judge(text: &str, rule: &Rule<'_>) -> FirstLine {
    let lines: Vec<(u64, &[u8])> = text.lines().map(|line| (0, line.as_bytes())).collect();
    let delimiter = Delimiter::Comma;
    let first: TextCells = match lines.first() {
        Some((_, line)) => Fields::new(line, delimiter)
            .map(|field| String::from_utf8(field.unwrap().into_owned()).unwrap())
            .collect(),
        None => TextCells::default(),
    };
    Sample::new(&first, lines.get(1..).unwrap_or_default(), delimiter).first_line(rule)
}

fn edges(text: &str, text_ids: bool) -> FirstLine {
    judge(text, &Rule::Edges { text_ids, ends: [None; 2], others: [None; 2] })
}

fn table(text: &str) -> FirstLine {
    judge(text, &Rule::Table { text_ids: false, id: None, first_is_id: false, cells: &[] })
}

#[test]
fn edges_of_numbers_have_a_header_without_numbers_in_its_first_two_fields() {
    for text in ["src,dst\n1,2", "a,b\n1,2", "src,dst", "time,to,from\n1,2,3", "x,\n1,2"] {
        assert_eq!(edges(text, false), FirstLine::Header, "{text:?}");
    }
    for text in ["1,2\n1,2", "src,2\n1,2", "NA,?\n1,2", ",\n1,2", "nan,x\n1,2", "alone", ""] {
        assert_eq!(edges(text, false), FirstLine::Row, "{text:?}");
    }
    // An edge of words, read without saying that ids are words, would leave an empty graph.
    assert_eq!(edges("ada,bob", false), FirstLine::Doubtful);
}

#[test]
fn columns_that_are_chosen_decide_in_place_of_the_first_two() {
    let (third, fourth) = (Column::Index(2), Column::Index(3));
    let chosen = |text| {
        let ends = [Some(&third), Some(&fourth)];
        judge(text, &Rule::Edges { text_ids: false, ends, others: [None; 2] })
    };
    assert_eq!(chosen("a,b,1,2\na,b,3,4"), FirstLine::Row);
    assert_eq!(chosen("0,1,a,b\n0,1,3,4"), FirstLine::Header);
    let weight = Column::Index(0);
    let rule = Rule::Edges { text_ids: false, ends: [None; 2], others: [Some(&weight), None] };
    assert_eq!(judge("1,a,b\n1,2,3", &rule), FirstLine::Header);
}

#[test]
fn edges_of_words_have_a_header_of_known_names_or_over_numbers() {
    for text in [
        "src,dst\na,b",
        "Source,TARGET,weight\na,b,c",
        "weight,from,to\n1,a,b",
        "FromNodeId,ToNodeId\na,b",
        "id,node\na,b",
        "follower,friend,weight\na,b,0.5\nc,d,1",
    ] {
        assert_eq!(edges(text, true), FirstLine::Header, "{text:?}");
    }
    for text in [
        "anna,berta\nberta,carla",
        "anna,berta\ncarla,anna",
        "anna,berta,0.5\ncarla,dora,1",
        "7,b\nc,d",
        "NA,NA\na,b",
    ] {
        assert_eq!(edges(text, true), FirstLine::Row, "{text:?}");
    }
    for text in [
        "follower,friend\na,b",
        "name,friend",
        "paper,cites\n10.1/x,10.1/y\n10.1/y,10.1/z",
        "user,movie,title\na,b,c",
        "src,bob\na,b",
    ] {
        assert_eq!(edges(text, true), FirstLine::Doubtful, "{text:?}");
    }
}

#[test]
fn names_that_are_asked_for_make_a_header() {
    let (name, friend) = (Column::Name("Name".to_owned()), Column::Name("friend".to_owned()));
    let ends = [Some(&name), Some(&friend)];
    let rule = Rule::Edges { text_ids: true, ends, others: [None; 2] };
    assert_eq!(judge("age,name,FRIEND\n1,a,b", &rule), FirstLine::Header);
    // The error about columns that are missing shows this line.
    assert_eq!(judge("a,b\nc,d", &rule), FirstLine::Header);
    let cells = [Column::Name("genre".to_owned())];
    let rule = Rule::Table { text_ids: false, id: None, first_is_id: false, cells: &cells };
    assert_eq!(judge("x,genre\na,b\nc,d", &rule), FirstLine::Header);
}

#[test]
fn a_word_alone_is_a_header_over_values_or_under_a_usual_name() {
    for text in ["Kind\npaper\nbook", "venue\n1\n\n2", "venue\n?\n3", "is_train\ntrue", "id\n4"] {
        assert_eq!(table(text), FirstLine::Header, "{text:?}");
    }
    for text in ["book\npaper\nbook", "1\n2", "\n1", "NA\n1", "?\n1", "-\n1", "null\n1", "None\n1"]
    {
        assert_eq!(table(text), FirstLine::Row, "{text:?}");
    }
    for text in ["genre\na\nb\na", "book\n1\npaper", "alone"] {
        assert_eq!(table(text), FirstLine::Doubtful, "{text:?}");
    }
    assert_eq!(table("False\ntrue"), FirstLine::Row);
}

#[test]
fn rows_of_several_columns_have_a_header_over_values_or_under_known_names() {
    for text in ["a,b\n1,2", "id,x\nada,bob", "name,label\nada,cat", ",x\n0,1", "a,b", "a,b\nx,1"] {
        assert_eq!(table(text), FirstLine::Header, "{text:?}");
    }
    for text in ["1,2\n3,4", "a,2\n3,4", "true,false\nx,y", "NA,?\n1,2", "ada,cat\nbob,cat"] {
        assert_eq!(table(text), FirstLine::Row, "{text:?}");
    }
    assert_eq!(table("who,genre\nada,cat\nbob,dog"), FirstLine::Doubtful);
}

#[test]
fn a_first_column_of_ids_may_stand_before_names_that_are_numbers() {
    let first = |text| {
        judge(text, &Rule::Table { text_ids: false, id: None, first_is_id: true, cells: &[] })
    };
    for text in ["id,0,1\n5,6,7", ",0,1\n5,6,7", "node_id,0\n1,2", "x,a,1\n1,2,3"] {
        assert_eq!(first(text), FirstLine::Header, "{text:?}");
    }
    for text in ["0,5,6\n1,2,3", "a,1,2\n1,2,3", "0,a,b\n1,2,3"] {
        assert_eq!(first(text), FirstLine::Row, "{text:?}");
    }
}

#[test]
fn tables_of_words_and_lists_of_words_go_by_the_names_of_ids() {
    let id = Column::Index(0);
    let words = |text| {
        judge(text, &Rule::Table { text_ids: true, id: Some(&id), first_is_id: false, cells: &[] })
    };
    for text in ["id,x\nada,1", "who,x\nada,1", "Node_ID,genre\nada,b"] {
        assert_eq!(words(text), FirstLine::Header, "{text:?}");
    }
    for text in ["ada,1\nbob,2", "ada,cat\nbob,cat"] {
        assert_eq!(words(text), FirstLine::Row, "{text:?}");
    }
    assert_eq!(words("who,genre\nada,cat\nbob,dog"), FirstLine::Doubtful);
    assert_eq!(judge("ada\nbob", &Rule::WordList), FirstLine::Row);
    assert_eq!(judge("node_id\nbob", &Rule::WordList), FirstLine::Header);
}
